import type { JsonObject } from '../base/json-value.ts';
import { cutText } from '../base/text/cut-text.ts';
import type { ErrorCode } from './generated/error-code.ts';
import type { NonSteerableTurnKind } from './generated/types.ts';

/**
 * An error as a client reads it. `data.code` never changes: schema/errors.json lists all codes.
 * Clients may also match messages, so avoid changing them.
 */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  constructor(
    readonly code: number,
    message: string,
    readonly data: JsonObject & { code: ErrorCode },
  ) {
    super(message);
  }
}

const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
const SERVER_OVERLOADED = -32001;

/** The maximum length of a client's string in an error message. */
export const SHOWN_CHARS_MAX = 100;

/**
 * The store errors that are caused by the request. All others are faults of the server or its
 * machine.
 */
const REFUSED_BY_STORE = new Set<ErrorCode>([
  'thread_not_found',
  'thread_archived',
  'thread_not_archived',
  'turn_not_found',
  'item_not_found',
  'active_writer',
  'invalid_cursor',
]);

export function notInitialized(): RpcError {
  return refused('not_initialized', 'Not initialized');
}

export function alreadyInitialized(): RpcError {
  return refused('already_initialized', 'Already initialized');
}

/** `hint`: what was probably meant. Null: nobody knows. */
export function unknownMethod(method: string, hint: string | null = null): RpcError {
  return refused(
    'unknown_method',
    `unknown method: ${cutText(method, SHOWN_CHARS_MAX)}${hint === null ? '' : `: ${hint}`}`,
  );
}

/** For methods of the protocol that this server does not serve. */
export function notServed(method: string): RpcError {
  return refused('not_supported', `${method} is not supported by this server`);
}

export function feedbackNotSent(): RpcError {
  const why =
    'feedback/upload is not supported by this server: it sends nothing to anybody. feedback/save writes the report to a file';
  return refused('not_supported', why);
}

/** `problem` is a sentence that names the field, as `paramsProblem` makes it. */
export function invalidParams(problem: string): RpcError {
  return refused('invalid_params', problem);
}

/** `what` is a method, or `method.field`. */
export function needsExperimentalApi(what: string): RpcError {
  return refused('experimental_api_required', `${what} requires experimentalApi capability`);
}

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

export function emptyObjective(): RpcError {
  return refused('empty_objective', 'goal objective must not be empty');
}

export function objectiveTooLong(charsMax: number, charsFound: number): RpcError {
  const text = `goal objective must be at most ${charsMax} characters, not ${charsFound}`;
  return refused('objective_too_long', text, { maxChars: charsMax, actualChars: charsFound });
}

export function invalidTokenBudget(): RpcError {
  return refused(
    'invalid_token_budget',
    'goal token budget must be positive, or null for no budget',
  );
}

/** For a change that needs an existing goal. */
export function noGoal(threadId: string): RpcError {
  return refused(
    'goal_not_found',
    `cannot update the goal of thread ${threadId}: no goal exists, and no objective was given`,
    {
      threadId,
    },
  );
}

export function goalsDisabled(): RpcError {
  return refused('goals_disabled', 'goals feature is disabled: features.goals is false');
}

export function noGoalsInEphemeral(threadId: string): RpcError {
  return refused('thread_ephemeral', `ephemeral thread does not support goals: ${threadId}`, {
    threadId,
  });
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

/** `what`: the request that needs a thread without a running turn, such as "roll back". */
export function turnActive(turnId: string, what: string): RpcError {
  return refused('turn_active', `cannot ${what} while a turn is in progress: interrupt it first`, {
    turnId,
  });
}

export function noActiveTurnToSteer(): RpcError {
  return refused('turn_not_active', 'no active turn to steer');
}

/** The details are those of a turn's error. */
export function turnNotSteerable(turnKind: NonSteerableTurnKind): RpcError {
  const message = `cannot steer a ${turnKind} turn`;
  const details = {
    message,
    codexErrorInfo: { activeTurnNotSteerable: { turnKind } },
    additionalDetails: null,
  };
  return refused('turn_not_steerable', message, details);
}

export function noActiveTurnToInterrupt(): RpcError {
  return refused('turn_not_active', 'no active turn to interrupt');
}

export function turnMismatch(expectedTurnId: string, foundTurnId: string): RpcError {
  const text = `expected active turn id \`${expectedTurnId}\` but found \`${foundTurnId}\``;
  return refused('turn_mismatch', text, { expectedTurnId, foundTurnId });
}

/** For a required field that is empty. */
export function emptyField(code: ErrorCode & `empty_${string}`, field: string): RpcError {
  return refused(code, `${field} must not be empty`);
}

/** For thread/inject_items. */
export function tooManyItems(itemsMax: number, itemsFound: number): RpcError {
  const text = `items must have at most ${itemsMax} entries, not ${itemsFound}: inject them in several requests`;
  return refused('too_many_items', text, { maxItems: itemsMax, actualItems: itemsFound });
}

/** `problem` says which of the item's fields is wrong. */
export function invalidItem(index: number, problem: string): RpcError {
  return refused('invalid_item', `items[${index}] is not a valid response item: ${problem}`, {
    index,
  });
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

export function emptyInput(): RpcError {
  return refused('empty_input', 'input must not be empty');
}

/** Images are not fetched. */
export function remoteImage(): RpcError {
  return refused(
    'remote_image',
    'remote images (http and https URLs) are not supported: send the image as a data URL, or a localImage',
  );
}

/** Both numbers count characters of text in all parts of the input. */
export function inputTooLarge(charsMax: number, charsFound: number): RpcError {
  return new RpcError(
    INVALID_PARAMS,
    `Input exceeds the maximum length of ${charsMax} characters.`,
    {
      code: 'input_too_large',
      input_error_code: 'input_too_large',
      max_chars: charsMax,
      actual_chars: charsFound,
    },
  );
}

export function invalidCursor(cursor: string): RpcError {
  return refused('invalid_cursor', `invalid cursor: ${cursor}`);
}

export function unknownPermissionProfile(id: string, known: readonly string[]): RpcError {
  const text = `unknown permission profile \`${cutText(id, SHOWN_CHARS_MAX)}\`: expected one of ${known.join(', ')}`;
  return refused('permission_profile_not_found', text);
}

export function folderNotFound(cwd: string): RpcError {
  const shown = JSON.stringify(cutText(cwd, SHOWN_CHARS_MAX));
  return refused(
    'cwd_not_found',
    `params.cwd: there is no folder ${shown}: create it, or name one that exists`,
  );
}

export function unknownEnvironment(id: string): RpcError {
  return refused(
    'environment_not_found',
    `unknown turn environment id \`${cutText(id, SHOWN_CHARS_MAX)}\``,
  );
}

/** Clients recognize the error by `data.type`. */
export function unknownModelProvider(modelProvider: string): RpcError {
  const shown = cutText(modelProvider, SHOWN_CHARS_MAX);
  const details = { type: 'modelProviderNotConfigured', modelProvider: shown };
  return refused(
    'model_provider_not_found',
    `unknown model provider: ${shown}, which is not configured`,
    details,
  );
}

/** `problem` names the file, the line and the key. */
export function configInvalid(problem: string): RpcError {
  return refused('config_invalid', problem);
}

export function overloaded(): RpcError {
  return new RpcError(SERVER_OVERLOADED, 'Server overloaded; retry later.', { code: 'overloaded' });
}

/** The server ends: it begins nothing any more. */
export function shuttingDown(): RpcError {
  return new RpcError(INTERNAL_ERROR, 'The server is shutting down.', { code: 'shutting_down' });
}

export function internal(
  message: string,
  data: RpcError['data'] = { code: 'internal_error' },
): RpcError {
  return new RpcError(INTERNAL_ERROR, message, data);
}

/** For an error of the store, which gives the code, the message and the details. */
export function fromStore(code: ErrorCode, message: string, details: JsonObject): RpcError {
  const rpcCode = REFUSED_BY_STORE.has(code) ? INVALID_REQUEST : INTERNAL_ERROR;
  return new RpcError(rpcCode, message, { ...details, code });
}

/** Refuses a request. `code`: a word for programs, which does not change. */
export function refused(code: ErrorCode, message: string, details: JsonObject = {}): RpcError {
  return new RpcError(INVALID_REQUEST, message, { ...details, code });
}
