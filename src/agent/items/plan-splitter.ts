const OPEN = '<proposed_plan>';
const CLOSE = '</proposed_plan>';

/** A piece of a message: text of the message itself, or of the plan in it. */
export interface PlanSpan {
  part: 'message' | 'plan';
  text: string;
}

/**
 * Splits a streamed message into its own text and the plan between its tags. A tag may be split between deltas. The line break
 * after a tag belongs to the tag. Text without tags is all message.
 */
export class PlanSplitter {
  #rest = '';
  #part: PlanSpan['part'] = 'message';
  #atTag = false;

  push(delta: string): PlanSpan[] {
    this.#rest += delta;
    const spans: PlanSpan[] = [];
    for (;;) {
      if (this.#atTag && this.#rest !== '') {
        this.#rest = this.#rest.replace(/^\n/, '');
        this.#atTag = false;
      }
      const tag = this.#part === 'message' ? OPEN : CLOSE;
      const at = this.#rest.indexOf(tag);
      if (at === -1) {
        const keep = longestTagStart(this.#rest, tag);
        this.#emit(spans, this.#rest.slice(0, this.#rest.length - keep));
        this.#rest = this.#rest.slice(this.#rest.length - keep);
        return spans;
      }
      this.#emit(spans, this.#rest.slice(0, at));
      this.#rest = this.#rest.slice(at + tag.length);
      this.#part = this.#part === 'message' ? 'plan' : 'message';
      this.#atTag = true;
    }
  }

  /** Ends the message. Returns text that was held back because it could have been the start of a tag. */
  end(): PlanSpan[] {
    const spans: PlanSpan[] = [];
    this.#emit(spans, this.#rest);
    this.#rest = '';
    return spans;
  }

  #emit(spans: PlanSpan[], text: string): void {
    if (text !== '') spans.push({ part: this.#part, text });
  }
}

/** The length of the longest suffix of `text` that is a prefix of `tag`. */
function longestTagStart(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length--) {
    if (tag.startsWith(text.slice(-length))) return length;
  }
  return 0;
}

/** Splits a whole message. The plan is null if there is no opening tag. */
export function splitPlan(text: string): { message: string; plan: string | null } {
  const splitter = new PlanSplitter();
  const spans = [...splitter.push(text), ...splitter.end()];
  const join = (part: PlanSpan['part']) =>
    spans
      .filter((span) => span.part === part)
      .map((span) => span.text)
      .join('');
  return { message: join('message'), plan: text.includes(OPEN) ? join('plan') : null };
}
