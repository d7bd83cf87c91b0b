import type { JsonValue } from '../../base/json-value.ts';
import { readRuleFiles } from '../../config/rules-files.ts';
import { forbidden } from '../../policy/command/judge-command.ts';
import { parseCommand } from '../../policy/command/parse-command.ts';
import { commandRules } from '../../policy/rules/parse-rules.ts';
import { strictRule } from '../../policy/rules/strict-rule.ts';
import type { ToolContext, ToolResult } from '../tool.ts';
import { ArgumentProblem, writeArguments } from './call/argument-problem.ts';
import type { CommandDeps } from './command-deps.ts';
import { commandReport } from './command-report.ts';
import type { CommandSession } from './sessions/command-session.ts';

/** What a terminal takes as the wish to end. */
const INTERRUPT = '\u0003';

/** `write_stdin`: writes to a command in the background, waits for it, and gives what it has said since. */
export async function writeToCommand(args: JsonValue, context: ToolContext, deps: CommandDeps, signal: AbortSignal): Promise<ToolResult> {
  let request: ReturnType<typeof writeArguments>;
  try {
    request = writeArguments(args, deps.limits);
  } catch (error) {
    if (error instanceof ArgumentProblem) return { output: `write_stdin: ${error.message}`, success: false };
    throw error;
  }
  const { number, chars, waitMs, tokensMax } = request;
  const session = deps.sessions.find(number);
  if (session === null) return { output: `write_stdin: there is no session ${number}, or it has ended.`, success: false };
  const refusal = session.end === null ? await refusalOf(chars, deps) : null;
  if (refusal !== null) return { output: refusal, success: false };
  const startedMs = deps.clock.monotonic();
  if (chars !== '' && session.end === null) {
    const problem = await write(session, chars, context);
    if (problem !== null) return { output: `write_stdin: ${problem}`, success: false };
  }
  await session.wait(waitMs, signal);
  const { end, shown } = session;
  if (end !== null) {
    // All of its output has been taken into account before its end is told.
    await session.complete();
    deps.sessions.forget(session);
  }
  const state = end === null ? { sessionId: number } : end;
  const wallMs = deps.clock.monotonic() - startedMs;
  return { output: commandReport({ state, wallMs, output: shown.takeUnread(), tokensMax }), success: end === null || end.exitCode === 0 };
}

/**
 * Why a rule forbids what would be typed; null where none does. A session that was let run takes all else: nobody is asked about
 * it again.
 */
async function refusalOf(chars: string, { home }: CommandDeps): Promise<string | null> {
  if (chars.trim() === '') return null;
  const rules = commandRules(readRuleFiles(home));
  if (!rules.rules.some(({ decision }) => decision === 'forbidden')) return null;
  const strict = strictRule(await parseCommand(['sh', '-c', chars.replaceAll('\r', '\n')]), rules);
  return strict?.decision === 'forbidden' ? forbidden(strict) : null;
}

/** Null, or why it could not be written. */
async function write(session: CommandSession, chars: string, context: ToolContext): Promise<string | null> {
  const { number, turnId, shown, program } = session;
  const { threadId } = context;
  if (!session.hasInput && chars !== INTERRUPT)
    return `session ${number} has no terminal, so its input is empty; start the command with \`tty\` to write to it.`;
  const params = { threadId, turnId, itemId: shown.itemId, processId: String(number), stdin: chars };
  await context.emit({ method: 'item/commandExecution/terminalInteraction', params });
  if (!session.hasInput) await session.kill();
  // A program that does not read now may do so later: nobody waits for that.
  else void program.write(Buffer.from(chars));
  return null;
}
