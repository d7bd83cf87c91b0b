import { resolveLinks } from '../../base/paths/follow-path.ts';
import { readRuleFiles } from '../../config/rules-files.ts';
import { hasFixedProgram } from '../../policy/command/has-fixed-program.ts';
import { parseCommand } from '../../policy/command/parse-command.ts';
import { trustsNames } from '../../policy/command/trusts-names.ts';
import { commandRules } from '../../policy/rules/parse-rules.ts';
import type { Action, ActionOutcome } from '../action.ts';
import type { CallContext } from '../tool.ts';
import type { CommandCall } from './call/command-call.ts';
import { CommandAction } from './command-action.ts';
import { permissionsBeyond, reachedRoots } from './command-bounds.ts';
import type { CommandDeps } from './command-deps.ts';
import { commandProject } from './command-project.ts';

/** Every program can write these folders, also where a command has no sandbox. */
const TEMPORARY: readonly string[] = ['/tmp', '/var/tmp', '/dev/shm'];

/**
 * Prepares a command that the model calls for: parses it as bash would, and reads what policy needs to judge it. A command that only
 * applies a patch is prepared as that patch.
 */
export async function prepareCommand(call: CommandCall, context: CallContext, deps: CommandDeps): Promise<Action | ActionOutcome> {
  const patch = await deps.preparePatch(call, context);
  if (patch !== null) return patch;
  const command = await parseCommand(call.argv);
  const permissions = permissionsBeyond({ context, deps }, call.permissions);
  const { cwd, escalates, justification, prefixRule } = call;
  const project = commandProject(cwd, context.settings.cwd);
  const roots = reachedRoots({ context, deps }, cwd);
  return new CommandAction(
    { call, command, context, deps, permissions, project },
    {
      request: { command, cwd, escalates, permissions, justification, prefixRule },
      rules: commandRules(readRuleFiles(deps.home)),
      trustsNames: trustsNames(deps.environment(), roots, resolveLinks),
      hasFixedProgram: hasFixedProgram(command, [...roots, ...TEMPORARY], resolveLinks),
      project,
    },
  );
}
