import { type TagSpan, TagSplitter } from '../../base/text/tag-splitter.ts';

const OPEN = '<proposed_plan>';
const CLOSE = '</proposed_plan>';

/** A piece of a message: text of the message itself, or of the plan in it. */
export interface PlanSpan {
  part: 'message' | 'plan';
  text: string;
}

/** Splits a streamed message into its own text and the plan between its tags. The line break after a tag belongs to the tag. */
export class PlanSplitter {
  readonly #splitter = new TagSplitter({ open: OPEN, close: CLOSE, takesLineBreak: true });

  push(delta: string): PlanSpan[] {
    return this.#splitter.push(delta).map(planSpan);
  }

  /** Ends the message. Returns text that was held back because it could have been the start of a tag. */
  end(): PlanSpan[] {
    return this.#splitter.end().map(planSpan);
  }
}

function planSpan({ isInside, text }: TagSpan): PlanSpan {
  return { part: isInside ? 'plan' : 'message', text };
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
