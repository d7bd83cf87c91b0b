import { charsOfTokens } from '../../base/text/estimate-tokens.ts';
import { commandActions } from '../../policy/command/command-actions.ts';
import { parseCommand } from '../../policy/parse/parse-command.ts';
import { type Action, failed, UNCONFINED } from '../action.ts';
import { deniedStatus, refusalText } from '../denial.ts';
import type { CallContext } from '../tool.ts';
import type { CommandCall } from './call/command-call.ts';
import { OUTPUT_TOKENS_DEFAULT } from './call/command-limits.ts';
import { shellArgv, userShell } from './call/user-shell.ts';
import { commandItem } from './command-item.ts';
import { commandProject } from './command-project.ts';
import { commandStart } from './command-run.ts';
import type { CommandServices } from './command-services.ts';
import { EXIT_CODE } from './sessions/exit-code.ts';
import { ShownCommand } from './sessions/shown-command.ts';
import { startCommand } from './start-command.ts';

/** The default time limit of the user's commands. */
export const USER_COMMAND_MS_MAX = 60 * 60 * 1000;
const OUTPUT_CHARS_MAX = charsOfTokens(OUTPUT_TOKENS_DEFAULT);

export interface UserCommand {
  /** A command line for the user's shell. Not blank. */
  text: string;
  timeoutMs: number;
}

/**
 * Prepares a command of the user. It needs no approval and runs without a sandbox. The output of
 * its outcome is a string.
 */
export async function prepareUserCommand(
  { text, timeoutMs }: UserCommand,
  context: CallContext,
  services: CommandServices,
): Promise<Action> {
  const { threadId, turnId, itemId, settings } = context;
  const call = userCall(text, {
    cwd: settings.cwd,
    timeoutMs,
    shell: userShell(services.machine.env),
  });
  const command = await parseCommand(call.argv);
  await services.shell.ready(context.signal);
  const start = commandStart(call, services);
  const { number, owner, release } = services.sessions.takeUserSlot();
  const project = commandProject(call.cwd, settings.cwd);
  const run = {
    call,
    command,
    context,
    services,
    start,
    project,
    permissions: null,
    pin: null,
    number,
    owner: owner(turnId),
  };
  const actions = commandActions(command, call.cwd);
  const item = commandItem({
    id: itemId,
    argv: call.argv,
    cwd: call.cwd,
    processId: null,
    source: 'userShell',
    actions,
  });
  return {
    kind: 'command',
    item,
    judge: () => ({ run: UNCONFINED }),
    async perform(permit, open, host) {
      if (open === null) throw new Error('the item of a user command has not begun');
      const shown = new ShownCommand({ item, open, threadId, turnId, clock: services.clock });
      const startedMs = services.clock.monotonic();
      const outcome = await startCommand(run, { shown, permit, host });
      if (outcome.state === 'notStarted') shown.note(outcome.problem);
      const exitCode =
        outcome.state === 'timedOut'
          ? EXIT_CODE.timedOut
          : 'exitCode' in outcome
            ? outcome.exitCode
            : null;
      const output = shown
        .takeUnread()
        .text(OUTPUT_CHARS_MAX, (leftOut) => `\n[… ${leftOut} characters truncated …]\n`);
      const seconds = (services.clock.monotonic() - startedMs) / 1000;
      return {
        output: report({ text, exitCode: exitCode ?? EXIT_CODE.killed, seconds, output }),
        success: exitCode === 0,
        item: shown.ended({ exitCode }),
      };
    },
    refused: (denial) => ({
      ...failed(refusalText(denial)),
      item: { ...item, status: deniedStatus(denial) },
    }),
    close: async () => release(),
  };
}

function userCall(
  text: string,
  { cwd, timeoutMs, shell }: { cwd: string; timeoutMs: number; shell: string },
): CommandCall {
  return {
    argv: shellArgv(shell, text, { login: true }),
    script: text,
    cwd,
    tty: false,
    yields: false,
    waitMs: timeoutMs,
    tokensMax: OUTPUT_TOKENS_DEFAULT,
    escalates: false,
    permissions: null,
    justification: null,
    prefixRule: null,
  };
}

function report({
  text,
  exitCode,
  seconds,
  output,
}: {
  text: string;
  exitCode: number;
  seconds: number;
  output: string;
}): string {
  return `<user_shell_command>
The user ran this command in their own shell.
<command>
${text}
</command>
<result>
Exit code: ${exitCode}
Duration: ${seconds.toFixed(4)} seconds
Output:
${output}
</result>
</user_shell_command>`;
}
