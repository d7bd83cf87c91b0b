import type { ResponseItem } from '../protocol/generated/types.ts';

/**
 * Tells the model that the previous turn did not end by itself, so that it does not assume that its
 * work is finished.
 */
export function cutOffMessage(why: string): ResponseItem {
  const text = `<turn_interrupted>\n${why} Its work may be done only in part: check before you rely on it.\n</turn_interrupted>`;
  return asUser(text);
}

/** Tells the model of an agent that the history before its own task is a copy. */
export function agentCopyMessage(): ResponseItem {
  return asUser(`<copied_history>
You are an agent. The thread whose history you have read so far has started you, and goes on with its own work in the turn that ends here:
do not continue that work. Calls without an output are its own; one of them started you. Your task is in the next message.
</copied_history>`);
}

/** Tells the model that a review which the user started did not come to its end. */
export function reviewCutOffMessage(why: string): ResponseItem {
  return asUser(
    `<review>\nThe user started a review. It has no result, because ${why}.\n</review>`,
  );
}

function asUser(text: string): ResponseItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}
