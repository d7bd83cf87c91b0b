import { dirname, join } from 'node:path';
import { readErrorTable, readMethodTable } from '../../schema/bundle.ts';
import { isObject } from '../../src/base/json-value.ts';
import { INTERNAL_ERROR } from '../../src/protocol/rpc-error.ts';
import { validateRequired } from './generated/validate-required.js';
import {
  type Validator,
  validateNotification,
  validateRequest,
  validateResult,
} from './generated/validate-sent.js';

/** The kind of a message from the server. */
type Kind = 'notification' | 'request' | 'result' | 'error';

const schemaFolder = join(dirname(dirname(import.meta.dirname)), 'schema');
const { codes } = readErrorTable(schemaFolder);
const { clientRequests } = readMethodTable(schemaFolder);

const MEMBERS: Record<Kind, string[]> = {
  notification: ['method', 'emittedAtMs', 'params'],
  request: ['id', 'method', 'params'],
  result: ['id', 'result'],
  error: ['id', 'error'],
};

/**
 * Checks a message from the server against the protocol's schemas. Returns the problem, or null if
 * there is none. `methodOf` returns the method of the request with this id, or undefined if the
 * test sent the request in a form of its own.
 */
export function problemWithSent(
  message: unknown,
  methodOf: (id: unknown) => string | undefined,
): string | null {
  if (!isObject(message)) return 'it is no object';
  const kind = kindOf(message);
  if (kind === null) return 'it is neither a notification nor a request nor an answer';
  const unknown = Object.keys(message).filter((key) => !MEMBERS[kind].includes(key));
  if (unknown.length > 0) return `it has a member ${unknown.join(', ')}`;
  switch (kind) {
    case 'notification':
      if (!Number.isSafeInteger(message.emittedAtMs)) return 'it has no emittedAtMs';
      return (
        misfit(message.params, validateNotification[String(message.method)]) ?? fitRequired(message)
      );
    case 'request':
      return misfit(message.params, validateRequest[String(message.method)]);
    case 'error':
      return errorProblem(message.error, methodOf(message.id));
    case 'result': {
      const method = methodOf(message.id);
      return method === undefined ? null : misfit(message.result, validateResult[method]);
    }
    default:
      return kind satisfies never;
  }
}

function kindOf(message: Record<string, unknown>): Kind | null {
  if (typeof message.method === 'string') return 'id' in message ? 'request' : 'notification';
  if (!('id' in message)) return null;
  if ('result' in message) return 'result';
  return 'error' in message ? 'error' : null;
}

/** Why a value does not match its schema. Returns null if it does. */
function misfit(value: unknown, validate: Validator | undefined): string | null {
  if (validate === undefined) return 'its method is not one that the server sends';
  return validate(value) ? null : `it does not fit its schema: ${JSON.stringify(validate.errors)}`;
}

/**
 * Some notifications must also match the schemas of the releases that clients were written for.
 * Those have no audio and no files by id, which only clients of later releases can send.
 */
function fitRequired({ method, params }: Record<string, unknown>): string | null {
  const validate = validateRequired[String(method)];
  if (validate === undefined || validate(params) || hasNewerInput(params)) return null;
  return `it does not fit the required schema: ${JSON.stringify(validate.errors)}`;
}

function hasNewerInput(params: unknown): boolean {
  const item = isObject(params) ? params.item : null;
  if (!isObject(item)) return false;
  const parts =
    item.type === 'userMessage'
      ? item.content
      : item.type === 'dynamicToolCall'
        ? item.contentItems
        : [];
  const content = Array.isArray(parts) ? parts : [];
  return content.some(
    (part) =>
      ['audio', 'localAudio', 'inputAudio'].includes(part.type) ||
      (part.type === 'image' && part.url === undefined),
  );
}

function errorProblem(error: unknown, method = ''): string | null {
  if (!isObject(error)) return 'its error is no object';
  const { code, message, data } = error;
  if (typeof message !== 'string' || message === '') return 'its error has no message';
  if (!isObject(data) || typeof data.code !== 'string') return 'its error has no data.code';
  const row = codes[data.code];
  if (row === undefined) return `schema/errors.json does not have its data.code ${data.code}`;
  // An error of an MCP server keeps its own number.
  const isOwn = data.code === 'mcp_request_failed';
  if (typeof code !== 'number' || !(isOwn || row.numbers.includes(code)))
    return `its error code is ${JSON.stringify(code)}`;
  const request = clientRequests[method];
  // Faults of the server and its machine can come with any request.
  const isListed =
    row.any ||
    code === INTERNAL_ERROR ||
    request?.result === undefined ||
    request.errors?.includes(data.code);
  return isListed
    ? null
    : `schema/methods.json does not have ${data.code} among the errors of ${method}`;
}
