import { commandActions } from '../../policy/command/command-actions.ts';
import { commandKey } from '../../policy/command/command-key.ts';
import type { CommandSituation } from '../../policy/command/command-verdict.ts';
import { judgeCommand } from '../../policy/command/judge-command.ts';
import type { Permit } from '../../policy/permissions/permit.ts';
import { mustStayInside } from '../../policy/permissions/required/required-hidden.ts';
import type { SessionGrants } from '../../policy/permissions/session-grants.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import {
  type Action,
  type ActionHost,
  type ActionOutcome,
  type Ask,
  failed,
  type Judgement,
  type OpenItem,
  type PlannedAction,
  UNCONFINED,
} from '../action.ts';
import { type Denial, deniedStatus, refusalText } from '../denial.ts';
import { commandAsk, plannedCommand } from './command-ask.ts';
import { reachedRoots } from './command-bounds.ts';
import { commandItem } from './command-item.ts';
import { type CommandState, commandReport } from './command-report.ts';
import type { CommandRun, PreparedCommand } from './command-run.ts';
import type { CommandServices } from './command-services.ts';
import { looksRefused } from './looks-refused.ts';
import { CommandPin } from './outside/command-pin.ts';
import { type CommandSlot, SESSIONS_MAX } from './sessions/command-sessions.ts';
import { EXIT_CODE } from './sessions/exit-code.ts';
import { type CommandItem, ShownCommand } from './sessions/shown-command.ts';
import { type CommandOutcome, startCommand } from './start-command.ts';

/** The situation that policy judges, without the thread's settings and grants. */
type Situation = Omit<
  CommandSituation,
  'sandboxPolicy' | 'approvalPolicy' | 'staysInside' | 'grants'
>;

/**
 * A command that the model calls for. It may continue in the background after its call has
 * returned.
 */
export class CommandAction implements Action {
  readonly kind = 'command';
  readonly item: CommandItem;
  #run: CommandRun;
  readonly #situation: Situation;
  /** Null: the thread's limit of running commands is reached. */
  readonly #slot: CommandSlot | null;

  constructor(prepared: PreparedCommand, situation: Situation, slot: CommandSlot | null) {
    const { call, command, context } = prepared;
    const actions = commandActions(command, call.cwd);
    this.#slot = slot;
    this.#situation = situation;
    this.#run = {
      ...prepared,
      number: this.#slot?.number ?? 0,
      owner: this.#slot?.owner(context.turnId) ?? [],
    };
    this.item = commandItem({
      id: context.itemId,
      argv: call.argv,
      cwd: call.cwd,
      processId: call.yields ? String(this.#run.number) : null,
      source: call.yields ? 'unifiedExecStartup' : 'agent',
      actions,
    });
  }

  judge(
    { sandboxPolicy, approvalPolicy, hidden }: ThreadSettings,
    grants: SessionGrants,
  ): Judgement {
    const staysInside = mustStayInside(hidden);
    const judged = judgeCommand({
      ...this.#situation,
      sandboxPolicy,
      approvalPolicy,
      staysInside,
      grants,
    });
    if (judged.verdict === 'refuse') return { refuse: judged.reason };
    if (this.#slot === null) return { refuse: tooMany(this.#run.services) };
    if (judged.verdict === 'run') return { run: judged };
    const { sandboxed, ...question } = judged;
    const permit = { sandboxed, readOnly: false, askIfRefused: false, wasAsked: true };
    return { ask: commandAsk(this.#run, { ...question, permit, approvalId: null }) };
  }

  approval(permit: Permit, reason: string): Ask {
    const question = {
      reason,
      key: null,
      proposedAmendment: null,
      approvalId: null,
      isDemanded: true as const,
    };
    return commandAsk(this.#run, { ...question, permit: { ...permit, wasAsked: true } });
  }

  describe(permit: Permit): PlannedAction {
    return plannedCommand(this.#run, { reason: null, permit });
  }

  async perform(permit: Permit, open: OpenItem, host: ActionHost): Promise<ActionOutcome> {
    const { context, services } = this.#run;
    const shown = new ShownCommand({
      item: this.item,
      open,
      threadId: context.threadId,
      turnId: context.turnId,
      clock: services.clock,
    });
    const startedMs = services.clock.monotonic();
    const outcome = await startCommand(this.#run, { shown, permit, host });
    const isRefused =
      permit.askIfRefused &&
      outcome.state === 'ended' &&
      looksRefused(outcome.exitCode, shown.item.aggregatedOutput ?? null);
    if (!isRefused) return this.#conclude(outcome, { shown, startedMs });
    const run = await this.#pinAgain();
    const verdict = await host.requestMore(outsideAsk(run));
    if ('allow' in verdict) {
      shown.note(RUN_AGAIN);
      return this.#conclude(await startCommand(run, { shown, permit: verdict.allow, host }), {
        shown,
        startedMs,
      });
    }
    const concluded = this.#conclude(outcome, { shown, startedMs });
    return {
      ...concluded,
      output: `${concluded.output}\n${refusalText(verdict.deny, 'The user declined to run it again outside the sandbox.')}`,
    };
  }

  refused(denial: Denial): ActionOutcome {
    const output = refusalText(denial, 'The user declined this command, so it was not run.');
    const status = deniedStatus(denial);
    return {
      ...failed(output),
      item: { ...this.item, status, aggregatedOutput: status === 'failed' ? output : null },
    };
  }

  async close(): Promise<void> {
    this.#slot?.release();
    await this.#run.pin?.close();
  }

  /** The command itself may have changed what it depends on. */
  async #pinAgain(): Promise<CommandRun> {
    const { command, call, start, pin } = this.#run;
    await pin?.close();
    this.#run = {
      ...this.#run,
      pin: await CommandPin.take(
        { command, cwd: call.cwd, env: start.env },
        reachedRoots(this.#run),
      ),
    };
    return this.#run;
  }

  /**
   * Returns the outcome of the call. If the command continues in the background, its item completes
   * when it ends.
   */
  #conclude(
    outcome: CommandOutcome,
    { shown, startedMs }: { shown: ShownCommand; startedMs: number },
  ): ActionOutcome & { output: string } {
    const { call, services, number } = this.#run;
    const report = (state: CommandState) => {
      const wallMs = services.clock.monotonic() - startedMs;
      return commandReport({
        state,
        wallMs,
        output: shown.takeUnread(),
        told: shown.takeTold(),
        tokensMax: call.tokensMax,
      });
    };
    switch (outcome.state) {
      case 'notStarted':
        shown.note(outcome.problem);
        return { output: outcome.problem, success: false, item: shown.ended({}) };
      case 'notBegun':
        return { output: NOT_BEGUN, success: false, item: shown.ended({ ran: false }) };
      case 'yielded': {
        const { session } = outcome;
        void session.ended.then(() => session.complete());
        return {
          output: report({ sessionId: number }),
          success: true,
          item: 'runsOn',
          session: { number, isOver: false },
        };
      }
      case 'ended': {
        const { exitCode } = outcome;
        const item = shown.ended({ exitCode });
        return { output: report({ exitCode }), success: exitCode === 0, item };
      }
      case 'timedOut': {
        const item = shown.ended({ exitCode: EXIT_CODE.timedOut });
        return { output: report({ timedOutMs: call.waitMs }), success: false, item };
      }
      case 'interrupted': {
        const { exitCode } = outcome;
        const item = shown.ended({ status: 'failed', exitCode });
        const output = `${report({ exitCode: exitCode ?? EXIT_CODE.killed })}\nThe turn was interrupted, so the command was killed.`;
        return { output, success: false, item };
      }
      default:
        return outcome satisfies never;
    }
  }
}

export const NOT_BEGUN = 'The turn was interrupted before the command started.';
const RUN_AGAIN = '\n[running again outside the sandbox]\n';

function tooMany({ sessions }: CommandServices): string {
  const numbers = sessions.running.map(({ number }) => number).join(', ');
  const advice =
    numbers === ''
      ? 'Try again when one has ended.'
      : `Wait for a background session with write_stdin, or stop one: sessions ${numbers}.`;
  return `This command was not run: ${SESSIONS_MAX} commands of this thread are running, which is the limit. ${advice}`;
}

function outsideAsk(run: CommandRun) {
  const { argv, cwd } = run.call;
  const identity = run.pin?.identity ?? null;
  return commandAsk(run, {
    reason:
      'The command failed, and it looks as if the sandbox blocked it. Run it again outside the sandbox?',
    key: identity === null ? null : commandKey({ argv, cwd, sandboxed: false, identity }),
    proposedAmendment: null,
    approvalId: 'outside-sandbox',
    permit: { ...UNCONFINED, wasAsked: true },
  });
}
