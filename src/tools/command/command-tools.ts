import type { JsonValue } from '../../base/json-value.ts';
import type { Action, ActionOutcome } from '../action.ts';
import { checkedTool } from '../bad-arguments.ts';
import type { CallContext, Tool } from '../tool.ts';
import type { CommandCall } from './call/command-call.ts';
import { type ArgumentDeps, execArguments, shellArguments } from './call/exec-arguments.ts';
import { execCommandSpec, writeStdinSpec } from './call/exec-command-spec.ts';
import type { CommandDeps } from './command-deps.ts';
import { prepareStdin } from './prepare-stdin.ts';

/**
 * Names that some models know for a tool that runs one command to its end. Calls to them work, but
 * they are not offered.
 */
const OTHER_NAMES = ['shell_command', 'shell', 'container.exec', 'local_shell'];

const AS_COMMAND = { hookForm: 'command' } as const;

/**
 * The tools that run commands: `exec_command`, `write_stdin`, and the other names that models may
 * use instead.
 */
export function commandTools(deps: CommandDeps): Tool[] {
  const spec = execCommandSpec(deps.settings.limits);
  const exec = checkedTool(
    spec,
    (args, context) => prepare({ read: execArguments, args }, { context, deps }),
    AS_COMMAND,
  );
  const write = checkedTool(writeStdinSpec(deps.settings.limits), (args, context) =>
    prepareStdin(args, context, deps),
  );
  const others = OTHER_NAMES.map((name) =>
    checkedTool(
      { ...spec, name },
      (args, context) => prepare({ read: shellArguments, args }, { context, deps }),
      {
        ...AS_COMMAND,
        offered: false,
      },
    ),
  );
  return [exec, write, ...others];
}

interface Reading {
  read(args: JsonValue, deps: ArgumentDeps): CommandCall;
  args: JsonValue;
}

async function prepare(
  { read, args }: Reading,
  { context, deps }: { context: CallContext; deps: CommandDeps },
): Promise<Action | ActionOutcome> {
  const call = read(args, {
    cwd: context.settings.cwd,
    env: deps.machine.env,
    home: deps.machine.home,
    limits: deps.settings.limits,
  });
  const { prepareCommand } = await import('./prepare-command.ts');
  return prepareCommand(call, context, deps);
}
