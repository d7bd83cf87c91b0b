import type { JsonValue } from '../../base/json-value.ts';
import type { Action, ActionOutcome } from '../action.ts';
import { checkedTool } from '../bad-arguments.ts';
import type { CallContext, Tool } from '../tool.ts';
import type { CommandCall } from './call/command-call.ts';
import { type ArgumentOptions, execArguments, shellArguments } from './call/exec-arguments.ts';
import { execCommandSpec, writeStdinSpec } from './call/exec-command-spec.ts';
import type { CommandServices } from './command-services.ts';
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
export function commandTools(services: CommandServices): Tool[] {
  const spec = execCommandSpec(services.settings.limits);
  const exec = checkedTool(
    spec,
    (args, context) => prepare({ read: execArguments, args }, { context, services }),
    AS_COMMAND,
  );
  const write = checkedTool(writeStdinSpec(services.settings.limits), (args, context) =>
    prepareStdin(args, context, services),
  );
  const others = OTHER_NAMES.map((name) =>
    checkedTool(
      { ...spec, name },
      (args, context) => prepare({ read: shellArguments, args }, { context, services }),
      {
        ...AS_COMMAND,
        offered: false,
      },
    ),
  );
  return [exec, write, ...others];
}

interface Reading {
  read(args: JsonValue, options: ArgumentOptions): CommandCall;
  args: JsonValue;
}

async function prepare(
  { read, args }: Reading,
  { context, services }: { context: CallContext; services: CommandServices },
): Promise<Action | ActionOutcome> {
  const call = read(args, {
    cwd: context.settings.cwd,
    env: services.machine.env,
    home: services.machine.home,
    limits: services.settings.limits,
  });
  const { prepareCommand } = await import('./prepare-command.ts');
  return prepareCommand(call, context, services);
}
