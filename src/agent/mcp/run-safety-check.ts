import type { Clock } from '../../base/clock.ts';
import { setVariables } from '../../base/env.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import type { McpSettings } from '../../config/mcp/mcp-settings.ts';
import type { Processes } from '../../sandbox/processes/processes.ts';
import { outOfTime, runProgram, STOPPED_EARLY } from '../../sandbox/run-program.ts';
import { redact } from '../../secrets/redact.ts';
import { redactLikelySecrets } from '../../secrets/redact-likely-secrets.ts';
import { readVerdict, type VerdictSchema } from '../aside/read-verdict.ts';
import { type PostDeps, postJson } from './post-json.ts';

/** The answer of a check. The reason is for the person, the guardian or the model. */
export type CheckAnswer = { verdict: 'ok' | 'ask' | 'block'; reason: string | null };

interface CheckDeps extends PostDeps {
  clock: Clock;
  processes: Processes;
}

type Check = NonNullable<McpSettings['check']>;

/** The longest answer by HTTP that is read. */
const ANSWER_CHARS_MAX = 64 * 1024;
const REASON_CHARS_MAX = 2_000;

/**
 * Asks the configured check about a call: a command gets it as JSON on its stdin, a URL by POST. It
 * answers with JSON on stdout or in the body: `{"decision": "ok" | "ask" | "block", "reason":
 * "…"}`. A check that fails, or takes too long, counts as `ask`. Never rejects.
 */
export async function runSafetyCheck(
  check: Check,
  call: JsonObject & { cwd: string },
  deps: CheckDeps,
  signal: AbortSignal,
): Promise<CheckAnswer> {
  if (check.type === 'invalid') return failed(check.error.message);
  try {
    return readAnswer(
      check.type === 'command'
        ? await runCommand(check, call, deps, signal)
        : await post(check, call, deps, signal),
    );
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error), check.secrets);
  }
}

function failed(why: string, secrets: readonly string[] = []): CheckAnswer {
  const reason = redactLikelySecrets(
    redact(`The safety check of MCP calls failed: ${why}.`, secrets),
  );
  return { verdict: 'ask', reason: cutText(reason, REASON_CHARS_MAX) };
}

const DECISIONS = ['ok', 'ask', 'block'] as const;
const ANSWER_SCHEMA: VerdictSchema = {
  type: 'object',
  properties: {
    decision: { type: 'string', enum: [...DECISIONS] },
    reason: { type: ['string', 'null'] },
  },
  required: ['decision', 'reason'],
  additionalProperties: false,
};

function readAnswer(text: string): CheckAnswer {
  const { decision, reason } = readVerdict(text, ANSWER_SCHEMA, ['decision']) ?? {};
  const verdict = DECISIONS.find((each) => each === decision);
  if (verdict === undefined)
    return failed(
      'it did not answer with a JSON object whose `decision` is "ok", "ask" or "block" and whose `reason` is a text, and nothing else',
    );
  return {
    verdict,
    reason:
      typeof reason === 'string' && reason.trim() !== '' ? cutText(reason, REASON_CHARS_MAX) : null,
  };
}

/** Returns what the command prints. Rejects if it fails. */
async function runCommand(
  { command, args, env, cwd, timeoutMs }: Extract<Check, { type: 'command' }>,
  call: JsonObject & { cwd: string },
  { processes, clock, env: own }: CheckDeps,
  signal: AbortSignal,
): Promise<string> {
  const program = {
    argv: [command, ...args],
    cwd,
    env: { ...setVariables(own), ...env },
    input: [Buffer.from(`${JSON.stringify(call)}\n`)],
    timeoutSec: timeoutMs / 1000,
    owner: ['mcp-check'],
    of: 'the safety check of MCP calls',
  };
  const result = await runProgram(program, { processes, clock }, signal);
  if ('failure' in result) throw new Error(result.failure);
  if (result.exitCode !== 0) throw new Error(`it ended with exit code ${result.exitCode}`);
  return result.stdout;
}

/** Returns the body of the response. Rejects if the request fails. */
async function post(
  { url, headers, timeoutMs }: Extract<Check, { type: 'http' }>,
  call: JsonObject,
  deps: CheckDeps,
  signal: AbortSignal,
): Promise<string> {
  const timeout = new AbortController();
  const timer = deps.clock.setTimer(() => timeout.abort(), timeoutMs);
  try {
    const request = { url, headers, body: JSON.stringify(call), charsMax: ANSWER_CHARS_MAX };
    const answer = await postJson(request, deps, AbortSignal.any([signal, timeout.signal]));
    if (answer === null)
      throw new Error(timeout.signal.aborted ? outOfTime(timeoutMs / 1000) : STOPPED_EARLY);
    if (answer.status < 200 || answer.status > 299)
      throw new Error(`it answered with HTTP status ${answer.status}`);
    return answer.text;
  } finally {
    timer.clear();
  }
}
