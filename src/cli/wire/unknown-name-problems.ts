import { suggestKey } from '../../base/text/suggest-key.ts';
import { methods } from '../../protocol/generated/methods.ts';
import { readParamNames } from '../../protocol/generated/param-names.js';
import { findUnknownNames } from '../../server/unknown-names.ts';
import type { ProtocolFields } from './protocol-fields.ts';

/** The most unknown names that are reported for a request. */
const UNKNOWN_MAX = 10;

/** Sentences about the method and the fields of a message that the protocol does not have. */
export function* unknownNameProblems(
  method: string,
  params: unknown,
  fields: ProtocolFields,
): Generator<string> {
  const meant = (nearest: string | null) => (nearest === null ? '' : `: did you mean ${nearest}?`);
  if (!Object.hasOwn(methods, method) && !fields.isNotification(method))
    yield `the protocol has no method ${method}${meant(suggestKey(method, fields.methods))}`;
  let count = 0;
  for (const { field, nearest } of findUnknownNames(method, params, readParamNames())) {
    if (++count > UNKNOWN_MAX) return;
    yield `${method} has no ${field}: the server ignores it${meant(nearest())}`;
  }
}
