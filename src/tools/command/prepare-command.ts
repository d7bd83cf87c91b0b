import { followPath, resolveLinks } from '../../base/paths/follow-path.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { readRuleFiles } from '../../config/rules-files.ts';
import { asksAboutSkills } from '../../policy/approvals/may-ask.ts';
import { hasFixedProgram } from '../../policy/command/has-fixed-program.ts';
import { trustsNames } from '../../policy/command/trusts-names.ts';
import { parseCommand } from '../../policy/parse/parse-command.ts';
import { hasBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { commandRules } from '../../policy/rules/parse-rules.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import { type Action, type ActionOutcome, failed } from '../action.ts';
import type { CallContext } from '../tool.ts';
import type { CommandCall } from './call/command-call.ts';
import { CommandAction, NOT_BEGUN } from './command-action.ts';
import { permissionsBeyond, reachedRoots } from './command-bounds.ts';
import { commandProject } from './command-project.ts';
import { commandStart } from './command-run.ts';
import type { CommandServices } from './command-services.ts';
import { CommandPin } from './outside/command-pin.ts';
import { leavingFacts } from './outside/leaving-facts.ts';
import type { CommandSlot } from './sessions/command-sessions.ts';
import { skillFile } from './skill-file.ts';

/** No system starts a longer one, and to judge it would take long. */
const COMMAND_CHARS_MAX = 1024 * 1024;
const TOO_LONG = `The command has more than ${COMMAND_CHARS_MAX} characters, and cannot be started. Write long texts into files first.`;

/** Every program can write these folders, also where a command has no sandbox. */
const TEMPORARY: readonly string[] = ['/tmp', '/var/tmp', '/dev/shm'];

/**
 * Prepares a command that the model calls for: parses it as bash would, and reads what policy needs
 * to judge it. A command that only applies a patch is prepared as that patch.
 */
export async function prepareCommand(
  asked: CommandCall,
  context: CallContext,
  services: CommandServices,
): Promise<Action | ActionOutcome> {
  const patch = await services.preparePatch(asked, context);
  if (patch !== null) return patch;
  if (asked.argv.reduce((sum, arg) => sum + arg.length, 0) > COMMAND_CHARS_MAX)
    return failed(TOO_LONG);
  const slot = await services.sessions.takeSlot(context.signal);
  if (slot === null && context.signal.aborted) return failed(NOT_BEGUN);
  try {
    return await prepareInSlot(asked, context, { services, slot });
  } catch (error) {
    slot?.release();
    throw error;
  }
}

/**
 * `slot` is null if the thread's limit of running commands is reached. The returned action releases
 * it.
 */
async function prepareInSlot(
  asked: CommandCall,
  context: CallContext,
  { services, slot }: { services: CommandServices; slot: CommandSlot | null },
): Promise<Action> {
  const roots = reachedRoots({ context, services });
  const mayBeOutside = mayBeAskedOutside(asked, context.settings);
  const mayGoBeyond = mayBeOutside || asked.permissions !== null;
  // The guards of a sandbox could be taken for folders of the user.
  if (mayGoBeyond) await services.machine.processes.tidy();
  const call = mayGoBeyond ? withShownFolder(asked, roots) : asked;
  const command = await parseCommand(call.argv);
  const permissions = permissionsBeyond({ context, services }, call.permissions);
  const { cwd, escalates, justification, prefixRule } = call;
  const project = commandProject(cwd, context.settings.cwd);
  await services.shell.ready(context.signal);
  const start = commandStart(call, services);
  const { env } = start;
  const rules = await commandRules(await readRuleFiles(services.machine.home));
  const mayLeave =
    (escalates || permissions !== null) && rules.rules.some(({ decision }) => decision === 'allow');
  const { commands } = command;
  const leaving =
    mayLeave && commands !== null ? await leavingFacts({ commands, cwd, env, roots }) : null;
  const isFixed = hasFixedProgram(command, [cwd, ...roots, ...TEMPORARY], resolveLinks);
  const ofSkill = asksAboutSkills(context.settings.approvalPolicy)
    ? await skillFile({ command, cwd, env }, services.skillFolders())
    : null;
  // Last: the action closes it.
  const pin =
    mayBeOutside || permissions !== null
      ? await CommandPin.take({ command, cwd, env }, roots)
      : null;
  return new CommandAction(
    { call, command, context, services, start, permissions, project, pin },
    {
      request: {
        command,
        cwd,
        identity: pin?.identity ?? null,
        escalates,
        permissions,
        justification,
        prefixRule,
      },
      rules,
      leaving,
      trustsNames: () => trustsNames(env, [cwd, ...roots], resolveLinks),
      hasFixedProgram: isFixed,
      skillFile: ofSkill,
      project,
    },
    slot,
  );
}

/**
 * Returns the call with its working directory as a person must see it: if a link that commands can
 * replace leads from it out of the workspace, that is the folder that it leads to.
 */
function withShownFolder(call: CommandCall, roots: readonly string[]): CommandCall {
  const { links, end } = followPath(call.cwd);
  const real = roots.map(resolveLinks);
  const strays =
    links.some(({ link }) => real.some((root) => isWithin(link, root))) &&
    !real.some((root) => isWithin(end, root));
  return strays ? { ...call, cwd: end } : call;
}

/**
 * Whether the command may run outside the sandbox because a person allowed it, now or for the
 * session.
 */
function mayBeAskedOutside(
  { escalates }: CommandCall,
  { sandboxPolicy, approvalPolicy }: ThreadSettings,
): boolean {
  if (approvalPolicy === 'never') return hasBounds(sandboxPolicy) && escalates;
  return escalates || !hasBounds(sandboxPolicy) || approvalPolicy === 'on-failure';
}
