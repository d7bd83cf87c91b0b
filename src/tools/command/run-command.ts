import { resolveLinks } from '../../base/follow-path.ts';
import { readRuleFiles } from '../../config/rules-files.ts';
import { commandActions } from '../../policy/command/command-actions.ts';
import { commandKey } from '../../policy/command/command-key.ts';
import type { CommandVerdict } from '../../policy/command/command-verdict.ts';
import { judgeCommand } from '../../policy/command/judge-command.ts';
import { parseCommand } from '../../policy/command/parse-command.ts';
import { trustsNames } from '../../policy/command/trusts-names.ts';
import { commandRules } from '../../policy/rules/parse-rules.ts';
import type { ToolContext, ToolResult } from '../tool.ts';
import { askAboutCommand, type Decision } from './ask-about-command.ts';
import type { CommandCall } from './call/command-call.ts';
import { permissionsBeyond, reachedRoots } from './command-bounds.ts';
import type { CommandDeps } from './command-deps.ts';
import { commandItem } from './command-item.ts';
import { type CommandState, commandReport } from './command-report.ts';
import type { CommandRun } from './command-run.ts';
import { looksRefused } from './looks-refused.ts';
import { SESSIONS_MAX } from './sessions/command-sessions.ts';
import { EXIT_CODE } from './sessions/exit-code.ts';
import { ShownCommand } from './sessions/shown-command.ts';
import { type CommandOutcome, type Confinement, startCommand } from './sessions/start-command.ts';

/** Runs a command that the model wants, as far as policy and user allow, and gives what the model reads of it. */
export async function runCommand(call: CommandCall, context: ToolContext, deps: CommandDeps, signal: AbortSignal): Promise<ToolResult> {
  const patched = await deps.patchIn?.(call, context, signal);
  if (patched != null) return patched;
  const command = await parseCommand(call.argv);
  const permissions = permissionsBeyond({ context, deps }, call.permissions);
  const { cwd, escalates, justification, prefixRule } = call;
  const verdict = judgeCommand({
    request: { command, cwd, escalates, permissions, justification, prefixRule },
    sandboxPolicy: context.settings.sandboxPolicy,
    approvalPolicy: context.settings.approvalPolicy,
    rules: commandRules(readRuleFiles(deps.home)),
    grants: context.approvals.grants,
    trustsNames: trustsNames(deps.environment(), reachedRoots({ context, deps }, cwd), resolveLinks),
  });
  if (verdict.verdict === 'refuse') return { output: verdict.reason, success: false };
  const place = deps.sessions.takeSlot();
  if (place === null) return { output: tooMany(deps), success: false };
  const run: CommandRun = { call, command, context, deps, permissions, number: place.number, owner: place.owner(context.turnId) };
  try {
    if (verdict.verdict === 'run') return await runShown(run, { shown: await begin(run), how: verdict }, signal);
    return await runAsked(run, verdict, signal);
  } finally {
    place.release();
  }
}

function tooMany({ sessions }: CommandDeps): string {
  const numbers = sessions.running.map(({ number }) => number).join(', ');
  return `${SESSIONS_MAX} commands of this thread run already, which is as many as may. In the background: sessions ${numbers}.`;
}

async function begin({ call, command, context, deps, number }: CommandRun): Promise<ShownCommand> {
  const { threadId, turnId, itemId, items } = context;
  const item = commandItem({
    id: itemId,
    argv: call.argv,
    cwd: call.cwd,
    processId: call.yields ? String(number) : null,
    source: call.yields ? 'unifiedExecStartup' : 'agent',
    actions: commandActions(command, call.cwd),
  });
  return new ShownCommand({ item, open: await items.begin(item), threadId, turnId, clock: deps.clock });
}

type Asked = Extract<CommandVerdict, { verdict: 'ask' }>;

/** The item begins with the question. */
async function runAsked(run: CommandRun, { sandboxed, ...question }: Asked, signal: AbortSignal): Promise<ToolResult> {
  let begun: ShownCommand | null = null;
  const opening = async () => {
    begun = await begin(run);
  };
  const decision = await askAboutCommand(run, { ...question, approvalId: null, opening }, signal);
  const shown = begun ?? (await begin(run));
  if (decision === 'accept') return runShown(run, { shown, how: { sandboxed, readOnly: false, askIfRefused: false } }, signal);
  await shown.complete({ status: 'declined', ran: false });
  return { output: declined(run, decision, 'The user declined: this command was not run.'), success: false };
}

async function runShown(
  run: CommandRun,
  { shown, how }: { shown: ShownCommand; how: Confinement & { askIfRefused: boolean } },
  signal: AbortSignal,
): Promise<ToolResult> {
  const startedMs = run.deps.clock.monotonic();
  const outcome = await startCommand(run, { shown, ...how }, signal);
  const isRefused = how.askIfRefused && outcome.state === 'ended' && looksRefused(outcome.exitCode, shown.item.aggregatedOutput ?? null);
  if (!isRefused) return conclude(run, { shown, outcome, startedMs });
  const decision = await askAboutCommand(run, outside(run), signal);
  if (decision === 'accept') {
    shown.note(RUN_AGAIN);
    return conclude(run, { shown, outcome: await startCommand(run, { shown, sandboxed: false, readOnly: false }, signal), startedMs });
  }
  const result = await conclude(run, { shown, outcome, startedMs });
  return { ...result, output: `${result.output}\n${declined(run, decision, 'The user declined to run it again outside the sandbox.')}` };
}

function outside({ call }: CommandRun) {
  return {
    reason: 'It failed, and seems to have been kept back by the sandbox. Run it again outside the sandbox?',
    key: commandKey({ argv: call.argv, cwd: call.cwd, sandboxed: false }),
    proposedAmendment: null,
    approvalId: 'outside-sandbox',
  };
}

const RUN_AGAIN = '\n[run again, outside the sandbox]\n';

function declined({ context }: CommandRun, decision: Decision, text: string): string {
  if (decision === 'cancel') context.approvals.cancelTurn();
  return text;
}

interface Conclusion {
  shown: ShownCommand;
  outcome: CommandOutcome;
  startedMs: number;
}

/** Ends the item, now or when the command ends, and gives what the model reads. */
async function conclude(
  { call, deps, number }: CommandRun,
  { shown, outcome, startedMs }: Conclusion,
): Promise<ToolResult & { output: string }> {
  const report = (state: CommandState) => {
    const wallMs = deps.clock.monotonic() - startedMs;
    return commandReport({ state, wallMs, output: shown.takeUnread(), tokensMax: call.tokensMax });
  };
  switch (outcome.state) {
    case 'notStarted':
      shown.note(outcome.problem);
      await shown.complete({ status: 'failed' });
      return { output: outcome.problem, success: false };
    case 'yielded': {
      const { session } = outcome;
      void session.ended.then(() => session.complete());
      return { output: report({ sessionId: number }), success: true };
    }
    case 'ended':
      await shown.complete({ status: outcome.exitCode === 0 ? 'completed' : 'failed', exitCode: outcome.exitCode });
      return { output: report({ exitCode: outcome.exitCode }), success: outcome.exitCode === 0 };
    case 'timedOut':
      await shown.complete({ status: 'failed', exitCode: EXIT_CODE.timedOut });
      return { output: report({ timedOutMs: call.waitMs }), success: false };
    case 'interrupted':
      await shown.complete({ status: 'failed', exitCode: outcome.exitCode, ran: outcome.exitCode !== null });
      return {
        output: `${report({ exitCode: outcome.exitCode ?? EXIT_CODE.killed })}\nThe turn was interrupted, and the command killed with it.`,
        success: false,
      };
    default:
      return outcome satisfies never;
  }
}
