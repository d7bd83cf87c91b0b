const TAGS = { message: '<proposed_plan>', plan: '</proposed_plan>' } as const;

/** The most spaces beside a tag. */
const SPACES_MAX = 100;

/** A piece of a message: text of the message itself, or of a plan in it. */
export interface PlanSpan {
  part: keyof typeof TAGS;
  text: string;
}

/**
 * Splits a streamed message into its own text and the plans in it. A tag counts only if it is alone
 * on its line: a message may also speak about the tags. Such a line belongs to neither part. A line
 * may be split between deltas.
 */
export class PlanSplitter {
  /** How many plans have begun. */
  plans = 0;
  #part: PlanSpan['part'] = 'message';
  /** The beginning of a line that may still become a tag, or else the rest of a line. */
  #rest = '';
  #isLineStart = true;

  push(delta: string): PlanSpan[] {
    this.#rest += delta;
    const spans: PlanSpan[] = [];
    for (;;) {
      const end = this.#rest.indexOf('\n') + 1;
      if (end === 0) break;
      this.#take(spans, end);
      this.#isLineStart = true;
    }
    if (this.#rest !== '' && !(this.#isLineStart && mayBecome(this.#rest, TAGS[this.#part]))) {
      this.#emit(spans, this.#rest.length);
      this.#isLineStart = false;
    }
    return spans;
  }

  /** Ends the message. Returns text that was held back because it could have been a tag. */
  end(): PlanSpan[] {
    const spans: PlanSpan[] = [];
    this.#take(spans, this.#rest.length);
    return spans;
  }

  /** Takes a line, or the rest of one. */
  #take(spans: PlanSpan[], length: number): void {
    const isTag = this.#isLineStart && isTagLine(this.#rest.slice(0, length), TAGS[this.#part]);
    if (!isTag) {
      this.#emit(spans, length);
      return;
    }
    this.#rest = this.#rest.slice(length);
    if (this.#part === 'message') this.plans++;
    this.#part = this.#part === 'message' ? 'plan' : 'message';
  }

  #emit(spans: PlanSpan[], length: number): void {
    if (length > 0) spans.push({ part: this.#part, text: this.#rest.slice(0, length) });
    this.#rest = this.#rest.slice(length);
  }
}

function isTagLine(line: string, tag: string): boolean {
  return line.length <= tag.length + SPACES_MAX && line.trim() === tag;
}

/** Whether the beginning of a line can become the line of a tag. */
function mayBecome(begun: string, tag: string): boolean {
  if (begun.length > tag.length + SPACES_MAX) return false;
  const text = begun.trimStart();
  return tag.startsWith(text) || text.trimEnd() === tag;
}

/** Splits a whole message. The plan is null if there is none. */
export function splitPlan(text: string): { message: string; plan: string | null } {
  const splitter = new PlanSplitter();
  const spans = [...splitter.push(text), ...splitter.end()];
  const join = (part: PlanSpan['part']) =>
    spans
      .filter((span) => span.part === part)
      .map((span) => span.text)
      .join('');
  return { message: join('message'), plan: splitter.plans > 0 ? join('plan') : null };
}
