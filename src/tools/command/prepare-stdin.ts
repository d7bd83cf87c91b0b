import type { JsonValue } from '../../base/json-value.ts';
import { readRuleFiles } from '../../config/rules-files.ts';
import { parseCommand } from '../../policy/parse/parse-command.ts';
import { commandRules } from '../../policy/rules/parse-rules.ts';
import { forbidden } from '../../policy/rules/rule-text.ts';
import { strictRule } from '../../policy/rules/strict-rule.ts';
import {
  type Action,
  type ActionHost,
  type ActionOutcome,
  type Ask,
  decisionVerdict,
  failed,
  UNCONFINED,
} from '../action.ts';
import { refusalText, unanswered } from '../denial.ts';
import type { CallContext } from '../tool.ts';
import { writeArguments } from './call/exec-arguments.ts';
import { commandReport } from './command-report.ts';
import type { CommandServices } from './command-services.ts';
import type { CommandSession } from './sessions/command-session.ts';
import { INTERRUPT } from './sessions/end-interrupted.ts';

type StdinRequest = ReturnType<typeof writeArguments>;

/**
 * Prepares `write_stdin`: writes to a command in the background, waits for it, and reports the
 * output since the last report. Rejects with BadArguments.
 */
export async function prepareStdin(
  args: JsonValue,
  context: CallContext,
  services: CommandServices,
): Promise<Action | ActionOutcome> {
  const request = writeArguments(args, services.settings.limits);
  const session = services.sessions.find(request.number);
  const isReached =
    session !== null && (services.ownTurnOnly !== true || session.turnId === context.turnId);
  if (!isReached)
    return failed(`write_stdin: session ${request.number} does not exist, or has ended.`);
  const refusal = session.end === null ? await refusalOf(request.chars, services) : null;
  return {
    kind: 'stdin',
    item: null,
    judge: ({ approvalsReviewer }, grants) => {
      if (refusal !== null) return { refuse: refusal };
      const isReviewed =
        grants.reviewsAll || (approvalsReviewer !== 'user' && session.wasAskedAbout);
      const writes = session.end === null && !isHarmless(request.chars);
      return isReviewed && writes
        ? { ask: stdinAsk(session, request, { context, services }) }
        : { run: UNCONFINED };
    },
    perform: (_permit, _shown, host) => writeAndWait(session, request, { context, services, host }),
    refused: (denial) =>
      failed(refusalText(denial, 'The user declined this input, so it was not written.')),
  };
}

async function writeAndWait(
  session: CommandSession,
  { number, chars, waitMs, tokensMax }: StdinRequest,
  {
    context,
    services,
    host,
  }: { context: CallContext; services: CommandServices; host: ActionHost },
): Promise<ActionOutcome> {
  const startedMs = services.clock.monotonic();
  if (chars !== '' && session.end === null) {
    const problem = await write(session, chars, { context, host });
    if (problem !== null) return failed(`write_stdin: ${problem}`);
  }
  await session.wait(waitMs, host.signal);
  const { end, shown } = session;
  if (end !== null) {
    // Must come before the report: it adds the last output.
    await session.complete();
    services.sessions.forget(session);
  }
  const state = end === null ? { sessionId: number } : end;
  const wallMs = services.clock.monotonic() - startedMs;
  return {
    output: commandReport({
      state,
      wallMs,
      output: shown.takeUnread(),
      told: shown.takeTold(),
      tokensMax,
    }),
    success: end === null || end.exitCode === 0,
    session: { number, isOver: end !== null },
  };
}

/** Whether input does nothing but look at the output, or interrupt the program. */
function isHarmless(chars: string): boolean {
  return chars === '' || chars === INTERRUPT;
}

/**
 * The question whether input may be written to a command. It ends with the command. It is for the
 * guardian, and for a person only if the guardian cannot judge the input: a person who decides has
 * allowed the command together with its input.
 */
function stdinAsk(
  { text, cwd, shown, gone }: CommandSession,
  { chars }: StdinRequest,
  { context, services }: { context: CallContext; services: CommandServices },
): Ask {
  return {
    permit: UNCONFINED,
    signal: gone,
    describe: () => ({
      targetItemId: shown.itemId,
      shown: { type: 'command', command: text, cwd, source: 'unifiedExec', stdin: chars },
      planned: {
        ...{ tool: 'write_stdin', command: text, cwd, item: shown.itemId, input: chars },
        note: 'The command runs already. Only this input is new.',
      },
      item: shown.open,
    }),
    async askPerson(ask) {
      const { threadId, turnId, callId } = context;
      const answer = await ask({
        method: 'item/commandExecution/requestApproval',
        params: {
          ...{
            threadId,
            turnId,
            itemId: shown.itemId,
            approvalId: callId,
            environmentId: 'local',
            kind: 'writeStdin',
            command: text,
            cwd,
          },
          startedAtMs: services.clock.now(),
          reason: `The command runs already. The agent wants to write this to it: ${JSON.stringify(chars)}.`,
          ...{ additionalPermissions: null, commandActions: null, networkApprovalContext: null },
          ...{ proposedExecpolicyAmendment: null, proposedNetworkPolicyAmendments: null },
          availableDecisions: ['accept', 'decline', 'cancel'],
        },
      });
      if (answer.type !== 'result') return unanswered(answer);
      const { decision } = answer.result;
      // A rule is not offered, and would not be about the input.
      return decisionVerdict(typeof decision === 'string' ? decision : 'decline', UNCONFINED);
    },
  };
}

/**
 * The reason, for the model, why a rule forbids this input. Returns null if no rule does. All other
 * input needs no approval, because the session itself was allowed to run.
 */
async function refusalOf(
  chars: string,
  { machine: { home } }: CommandServices,
): Promise<string | null> {
  if (chars.trim() === '') return null;
  const rules = await commandRules(await readRuleFiles(home));
  if (!rules.rules.some(({ decision }) => decision === 'forbidden')) return null;
  const strict = strictRule(await parseCommand(['sh', '-c', chars.replaceAll('\r', '\n')]), rules);
  return strict?.decision === 'forbidden' ? forbidden(strict) : null;
}

/** Returns the reason why the input was not written, or null. */
async function write(
  session: CommandSession,
  chars: string,
  { context, host }: { context: CallContext; host: ActionHost },
): Promise<string | null> {
  const { number, turnId, shown } = session;
  if (!session.hasInput && chars !== INTERRUPT)
    return `session ${number} has no terminal, so its stdin is empty. To write to a command, start it with \`tty\`: true.`;
  const params = {
    threadId: context.threadId,
    turnId,
    itemId: shown.itemId,
    processId: String(number),
    stdin: chars,
  };
  await host.emit({ method: 'item/commandExecution/terminalInteraction', params });
  if (chars === INTERRUPT) await session.interrupt();
  else session.write(chars);
  return null;
}
