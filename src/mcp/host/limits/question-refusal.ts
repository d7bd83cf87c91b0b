import type { McpAnswer, McpQuestion } from '../../messages/mcp-host.ts';
import { fitsLimits } from './json-limits.ts';

/** The longest question: clients show it, and models read it. */
const QUESTION = { chars: 200_000, values: 50_000, depth: 100 };
/** The questions of a connection that are open at a time. */
const QUESTIONS_MAX = 16;
const INVALID_PARAMS = -32602;
const OVERLOADED = -32000;

/**
 * Whether the server itself asks. Other questions are those of the connection, about tokens and
 * logins.
 */
export function isOfServer({ kind }: McpQuestion): boolean {
  return kind === 'elicitation' || kind === 'sampling' || kind === 'roots';
}

/**
 * The answer to a question of a server that the main thread must not get; null: it gets it. `open`:
 * the others that are open.
 */
export function questionRefusal(question: McpQuestion, open: number): McpAnswer | null {
  if (!isOfServer(question)) return null;
  if (open >= QUESTIONS_MAX)
    return refusal(OVERLOADED, `${QUESTIONS_MAX} questions of this server are open already`);
  if (!('params' in question) || fitsLimits(QUESTION, question.params)) return null;
  return refusal(
    INVALID_PARAMS,
    `the question is longer than ${QUESTION.chars} characters, or nested too deeply`,
  );
}

function refusal(code: number, message: string): McpAnswer {
  return { error: { code, message } };
}
