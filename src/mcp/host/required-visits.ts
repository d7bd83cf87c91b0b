import { ProtocolError } from '@modelcontextprotocol/client';
import { isObject, type JsonObject } from '../../base/json-value.ts';

const URL_ELICITATION_REQUIRED = -32042;
/** The most addresses that a user is asked about for one call. */
const VISITS_MAX = 4;

/** The addresses that the user has to visit before the server performs a request, as questions. Empty: the error is another one. */
export function requiredVisits(error: unknown): JsonObject[] {
  if (!(error instanceof ProtocolError) || error.code !== URL_ELICITATION_REQUIRED || !isObject(error.data)) return [];
  const { elicitations } = error.data;
  const visits = Array.isArray(elicitations) ? elicitations.filter(isObject) : [];
  return visits.length > VISITS_MAX ? [] : visits.map((visit) => ({ ...(visit as JsonObject), mode: 'url' }));
}
