import type { JsonValue } from '../../base/json-value.ts';
import type { Tool, ToolContext, ToolResult } from '../tool.ts';
import { type ArgumentDeps, ArgumentProblem, execArguments, shellArguments } from './call/argument-problem.ts';
import type { CommandCall } from './call/command-call.ts';
import { execCommandSpec, writeStdinSpec } from './call/exec-command-spec.ts';
import type { CommandDeps } from './command-deps.ts';
import { writeToCommand } from './write-to-command.ts';

/** Names that models know for a tool that runs one command to its end. They are taken, and not offered. */
const OTHER_NAMES = ['shell_command', 'shell', 'container.exec', 'local_shell'];

/** The tools that run commands: `exec_command` and `write_stdin`, and those that models may know in place of them. */
export function commandTools(deps: CommandDeps): Tool[] {
  const spec = execCommandSpec(deps.limits);
  const exec: Tool = {
    spec,
    run: (args, context, signal) => run('exec_command', { read: execArguments, args }, { context, deps, signal }),
  };
  const write: Tool = {
    spec: writeStdinSpec(deps.limits),
    run: (args, context, signal) => writeToCommand(args, context, deps, signal),
  };
  const others = OTHER_NAMES.map(
    (name): Tool => ({
      spec: { ...spec, name },
      offered: false,
      run: (args, context, signal) => run(name, { read: shellArguments, args }, { context, deps, signal }),
    }),
  );
  return [exec, write, ...others];
}

interface Reading {
  read(args: JsonValue, place: ArgumentDeps): CommandCall;
  args: JsonValue;
}

async function run(
  name: string,
  { read, args }: Reading,
  { context, deps, signal }: { context: ToolContext; deps: CommandDeps; signal: AbortSignal },
): Promise<ToolResult> {
  let call: CommandCall;
  try {
    call = read(args, { cwd: context.settings.cwd, env: deps.env, home: deps.home, limits: deps.limits });
  } catch (error) {
    if (error instanceof ArgumentProblem) return { output: `${name}: ${error.message}`, success: false };
    throw error;
  }
  const { runCommand } = await import('./run-command.ts');
  return runCommand(call, context, deps, signal);
}
