import type { JsonObject } from '../base/json-value.ts';
import { cutText } from '../base/text/cut-text.ts';
import type { ErrorCode } from './generated/error-code.ts';

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

  /** The error as a response has it. */
  get body(): { code: number; message: string; data: JsonObject } {
    const { code, message, data } = this;
    return { code, message, data };
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

/** For a required field that is empty. */
export function emptyField(code: ErrorCode & `empty_${string}`, field: string): RpcError {
  return refused(code, `${field} must not be empty`);
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

/** The server ends when its turns have ended. Clients recognize the error by `data.reason`. */
export function draining(): RpcError {
  const why = 'the server is ending and begins no more turns: connect again';
  return refused('shutting_down', why, { reason: 'serverShuttingDown' });
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
