import type { Clock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import { isObject, type JsonObject, parsedJson } from '../../base/json-value.ts';
import { makeFolder } from '../../base/paths/make-folder.ts';
import { cutText } from '../../base/text/cut-text.ts';
import type { McpSettings } from '../../config/mcp/mcp-settings.ts';
import type { Processes } from '../../sandbox/processes/processes.ts';
import { redact } from '../../secrets/redact.ts';
import { redactLikelySecrets } from '../../secrets/redact-likely-secrets.ts';

/** The answer of a check. The reason is for the person, the guardian or the model. */
export type CheckAnswer = { verdict: 'ok' | 'ask' | 'block'; reason: string | null };

interface CheckDeps {
  clock: Clock;
  processes: Processes;
  /** The server's own environment. */
  env: Env;
}

type Check = NonNullable<McpSettings['check']>;

/** The longest answer that is read. */
const ANSWER_CHARS_MAX = 64 * 1024;
const REASON_CHARS_MAX = 2_000;

/**
 * Asks the configured check about a call: a command gets it as JSON on its stdin, a URL by POST. It answers with JSON on stdout or in the
 * body: `{"decision": "ok" | "ask" | "block", "reason": "…"}`. A check that fails, or takes too long, counts as `ask`. Never rejects.
 */
export async function runSafetyCheck(
  check: Check,
  call: JsonObject & { cwd: string },
  deps: CheckDeps,
  signal: AbortSignal,
): Promise<CheckAnswer> {
  if (check.type === 'invalid') return failed(check.error.message);
  const timeout = new AbortController();
  const timer = deps.clock.setTimer(() => timeout.abort(), check.timeoutMs);
  const ending = AbortSignal.any([signal, timeout.signal]);
  try {
    const text = check.type === 'command' ? await runCommand(check, call, deps, ending) : await post(check, call, ending);
    return text === null ? failed(`it did not answer within ${check.timeoutMs / 1000} seconds`) : readAnswer(text);
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error), check.secrets);
  } finally {
    timer.clear();
  }
}

function failed(why: string, secrets: readonly string[] = []): CheckAnswer {
  const reason = redactLikelySecrets(redact(`The safety check of MCP calls failed: ${why}.`, secrets));
  return { verdict: 'ask', reason: cutText(reason, REASON_CHARS_MAX) };
}

function readAnswer(text: string): CheckAnswer {
  const answer = parsedJson(text.trim());
  const { decision, reason } = isObject(answer) ? answer : {};
  if (decision !== 'ok' && decision !== 'ask' && decision !== 'block')
    return failed('it answered with no JSON object whose `decision` is "ok", "ask" or "block"');
  return { verdict: decision, reason: typeof reason === 'string' && reason.trim() !== '' ? cutText(reason, REASON_CHARS_MAX) : null };
}

/** Null: the signal aborted first. */
async function runCommand(
  { command, args, env, cwd }: Extract<Check, { type: 'command' }>,
  call: JsonObject & { cwd: string },
  { processes, env: own }: CheckDeps,
  signal: AbortSignal,
): Promise<string | null> {
  let text = '';
  const variables = Object.entries(own).filter((entry): entry is [string, string] => entry[1] !== undefined);
  await makeFolder(cwd);
  const running = await processes.start(
    {
      argv: [command, ...args],
      cwd,
      env: { ...Object.fromEntries(variables), ...env },
      bounds: null,
      owner: ['mcp-check'],
      input: true,
      terminal: null,
    },
    (stream, bytes) => {
      if (stream === 'stdout' && text.length < ANSWER_CHARS_MAX) text += bytes.toString('utf8');
    },
  );
  const kill = () => void running.kill();
  signal.addEventListener('abort', kill);
  const unattend = running.attend(60_000);
  try {
    if (signal.aborted) kill();
    void running.write(Buffer.from(`${JSON.stringify(call)}\n`)).then(() => running.endInput());
    const { exitCode } = await running.ended;
    await running.kill();
    if (signal.aborted) return null;
    if (exitCode !== 0) throw new Error(`it ended with exit code ${exitCode}`);
    return text;
  } finally {
    unattend();
    signal.removeEventListener('abort', kill);
  }
}

/** Null: the signal aborted first. */
async function post({ url, headers }: Extract<Check, { type: 'http' }>, call: JsonObject, signal: AbortSignal): Promise<string | null> {
  const { postJson } = await import('./post-json.ts');
  const answer = await postJson({ url, headers, body: JSON.stringify(call), charsMax: ANSWER_CHARS_MAX }, signal);
  if (answer === null) return null;
  if (answer.status < 200 || answer.status > 299) throw new Error(`it answered with HTTP status ${answer.status}`);
  return answer.text;
}
