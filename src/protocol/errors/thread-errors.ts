import { cutText } from '../../base/text/cut-text.ts';
import { type RpcError, refused, SHOWN_CHARS_MAX } from '../rpc-error.ts';

export function threadNotFound(threadId: string): RpcError {
  return refused('thread_not_found', `thread not found: ${threadId}`, { threadId });
}

/** A size that an answer would have, and the most that it can have, in bytes. */
interface AnswerSize {
  bytes: number;
  bytesMax: number;
}

/** `advice` is a sentence without its full stop. */
export function historyTooLarge(
  threadId: string,
  { bytes, bytesMax, advice }: AnswerSize & { advice: string },
): RpcError {
  const text = `the turns of thread ${threadId} have ${bytes} bytes, and an answer has at most ${bytesMax}. ${advice}.`;
  return refused('answer_too_large', text, { threadId, bytes, maxBytes: bytesMax });
}

export function turnTooLarge(turnId: string, { bytes, bytesMax }: AnswerSize): RpcError {
  const advice =
    'Read the turn with itemsView "summary", and its items in pages with thread/items/list (params: threadId, turnId, cursor)';
  const text = `the items of turn ${turnId} have ${bytes} bytes, and an answer has at most ${bytesMax}. ${advice}.`;
  return refused('answer_too_large', text, { turnId, bytes, maxBytes: bytesMax });
}

export function itemsTooLarge(turnId: string, { bytes, bytesMax }: AnswerSize): RpcError {
  const text = `the items of turn ${turnId} have more than ${bytes} bytes, and an answer has at most ${bytesMax}. Name fewer in itemIds.`;
  return refused('answer_too_large', text, { turnId, bytes, maxBytes: bytesMax });
}

/** For methods that need a stored thread, loaded or not. */
export function noRolloutFound(threadId: string): RpcError {
  return refused('thread_not_found', `no rollout found for thread id ${threadId}`, { threadId });
}

export function noRolloutFoundAt(path: string): RpcError {
  return refused('rollout_not_found', `no rollout found at ${path}`, { path });
}

/** `problem` says what is wrong with the file. */
export function rolloutInvalid(path: string, problem: string): RpcError {
  return refused('rollout_invalid', `${path} cannot be read as a rollout: ${problem}`, { path });
}

export function emptyHistory(): RpcError {
  return refused('empty_history', 'history must not be empty');
}

export function loadedWithHistory(threadId: string): RpcError {
  return refused(
    'thread_loaded',
    `thread ${threadId} is loaded, so it cannot be resumed with another history`,
    { threadId },
  );
}

export function loadedElsewhere(threadId: string, path: string): RpcError {
  return refused('thread_loaded', `thread ${threadId} is loaded, and ${path} is not its path`, {
    threadId,
    path,
  });
}

export function emptyThreadName(): RpcError {
  return refused('empty_name', 'thread name must not be empty');
}

export function threadNameTooLong(charsMax: number, charsFound: number): RpcError {
  const text = `thread name must be at most ${charsMax} characters, not ${charsFound}`;
  return refused('name_too_long', text, { maxChars: charsMax, actualChars: charsFound });
}

export function invalidThreadId(text: string): RpcError {
  const advice = /[\\/]/.test(text)
    ? ': it looks like a path, which thread/resume and thread/fork take as `path`'
    : '';
  return refused(
    'invalid_thread_id',
    `invalid thread id: ${JSON.stringify(cutText(text, SHOWN_CHARS_MAX))} is not a UUID${advice}`,
  );
}

export function threadArchived(threadId: string): RpcError {
  return refused('thread_archived', `thread ${threadId} is archived: unarchive it first`, {
    threadId,
  });
}

/** For archiving a thread that is only in memory. */
export function threadEphemeral(threadId: string): RpcError {
  return refused(
    'thread_ephemeral',
    `thread ${threadId} is ephemeral: it ends with the server and cannot be archived`,
    { threadId },
  );
}

/** `what` is the request, or its field, that contains no change. */
export function emptyMetadataUpdate(what: string): RpcError {
  return refused('empty_update', `${what} must include at least one field`);
}

export function emptyMetadataField(field: string): RpcError {
  return refused('empty_field', `${field} must not be empty`);
}

export function projectNotFound(projectId: string): RpcError {
  return refused('project_not_found', `project not found: ${cutText(projectId, SHOWN_CHARS_MAX)}`);
}

export function itemIdsOutOfRange(idsMax: number): RpcError {
  return refused('invalid_params', `itemIds must contain 1 to ${idsMax} IDs`);
}
