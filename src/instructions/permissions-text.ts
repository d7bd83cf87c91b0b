import { type ApprovalKind, mayAsk } from '../policy/permissions/may-ask.ts';
import { type GrantedPermissions, PROTECTED_NAMES } from '../policy/permissions/sandbox-bounds.ts';
import type { AskForApproval, ReadOnlyAccess, SandboxPolicy } from '../protocol/generated/types.ts';

/** What decides what the model's commands may do, and how it can ask for more. */
export interface PermissionsInput {
  sandboxPolicy: SandboxPolicy;
  approvalPolicy: AskForApproval;
  /** Further folders of the workspace. */
  workspaceRoots?: readonly string[];
  /** What users have granted for the session. */
  granted?: readonly GrantedPermissions[];
  /** Whether there is the tool `request_permissions`. */
  asksForPermissions?: boolean;
  /** Whether one command can ask for permissions of its own. */
  widensCommands?: boolean;
}

/** Tells the model what commands can do, when somebody is asked, and how it asks. */
export function permissionsText(input: PermissionsInput): string {
  const { sandboxPolicy: sandbox, approvalPolicy: approval } = input;
  const isConfined = sandbox.type === 'readOnly' || sandbox.type === 'workspaceWrite';
  const parts = [sandboxText(input), isConfined ? grantedText(input.granted ?? []) : null, approvalText(approval, isConfined)];
  if (isConfined && mayLeave(approval) && input.widensCommands === true) parts.push(WIDENING);
  if (isConfined && mayLeave(approval)) parts.push(ESCALATION);
  if (isConfined && input.asksForPermissions === true && mayAsk(approval, 'request_permissions')) parts.push(REQUEST);
  return `Permissions\n\n${parts.filter((part) => part !== null).join('\n\n')}`;
}

function sandboxText({ sandboxPolicy: sandbox, workspaceRoots = [] }: PermissionsInput): string {
  switch (sandbox.type) {
    case 'dangerFullAccess':
      return 'Commands run without a sandbox (danger-full-access), with all the rights of the user: files anywhere and the network. Take the care that this asks for.';
    case 'externalSandbox':
      return `Commands run in a sandbox that was set up outside of heddle; its bounds are not known here. ${networkText(sandbox.networkAccess === 'enabled')}`;
    case 'readOnly':
      return `Commands run in a read-only sandbox: they read ${readText(sandbox.access, workspaceRoots)} and write nothing. ${networkText(sandbox.networkAccess === true)}`;
    case 'workspaceWrite':
      return `Commands run in a workspace-write sandbox: they read ${readText(sandbox.readOnlyAccess, workspaceRoots)} and write only in ${writableText(sandbox, workspaceRoots)}. ${networkText(sandbox.networkAccess === true)} ${PROTECTED}`;
    default:
      return sandbox satisfies never;
  }
}

const PROTECTED = `Whatever is named ${listText(PROTECTED_NAMES, 'or')} can be read everywhere, and nowhere be written or made.`;

function readText(access: ReadOnlyAccess | null | undefined, workspaceRoots: readonly string[]): string {
  if (access?.type !== 'restricted') return 'files';
  const places = ['the working folder', ...workspaceRoots, ...(access.readableRoots ?? [])];
  if (access.includePlatformDefaults !== false) places.push('what programs commonly need');
  return `only ${listText([...new Set(places)], 'and')}`;
}

function writableText(
  { writableRoots, excludeSlashTmp, excludeTmpdirEnvVar }: Extract<SandboxPolicy, { type: 'workspaceWrite' }>,
  workspaceRoots: readonly string[],
): string {
  const places = ['the working folder', ...workspaceRoots, ...(writableRoots ?? [])];
  if (!excludeSlashTmp) places.push('/tmp');
  if (!excludeTmpdirEnvVar) places.push('the folder that $TMPDIR names');
  return listText([...new Set(places)], 'and');
}

function networkText(allowed: boolean): string {
  return allowed ? 'The network can be reached.' : 'The network cannot be reached.';
}

/** Null: nothing has been granted. */
function grantedText(granted: readonly GrantedPermissions[]): string | null {
  const of = (kind: 'read' | 'write') => [...new Set(granted.flatMap((grant) => grant[kind]))];
  const [read, write] = [of('read'), of('write')];
  const parts = [];
  if (read.length > 0) parts.push(`to read ${listText(read, 'and')}`);
  if (write.length > 0) parts.push(`to write ${listText(write, 'and')}`);
  if (granted.some(({ network }) => network)) parts.push('to reach the network');
  return parts.length === 0 ? null : `Granted beyond that, for this session: ${parts.join('; ')}.`;
}

function approvalText(approval: AskForApproval, isConfined: boolean): string {
  switch (approval) {
    case 'untrusted':
      return 'Every command that is not known to be harmless is shown to a reviewer first, who may decline it.';
    case 'on-failure':
      return isConfined
        ? 'Commands run in the sandbox without asking. When the sandbox stops one, a reviewer is asked whether it may run again outside: you need not ask.'
        : 'Commands run without asking.';
    case 'on-request':
      return isConfined
        ? 'Commands run in the sandbox without asking. When one needs to go beyond it, ask for that in the tool call; a reviewer decides.'
        : 'Commands run without asking, but for those that a rule says to ask about.';
    case 'never':
      return 'Nobody is asked for approval: what goes beyond these limits is refused. Do not ask for more; work within them, and say what you could not do.';
    default:
      return granularText(approval);
  }
}

/** Whether a command may ask to leave the sandbox. Under `on-failure` the server asks instead, after the sandbox has stopped it. */
function mayLeave(approval: AskForApproval): boolean {
  return mayAsk(approval, 'sandbox_approval') && approval !== 'on-failure';
}

const ESCALATION =
  'To run a command outside the sandbox, give `sandbox_permissions: "require_escalated"` and a `justification`, a short question to the user. A `prefix_rule` such as ["npm", "install"] proposes what may run from now on without asking: keep it narrow. Ask only for what the task needs, after it is clear that the sandbox is in the way. When it is declined, do not try to get there by other means.';

const WIDENING =
  'To let one command read or write more, or reach the network, while it stays in the sandbox, give `sandbox_permissions: "with_additional_permissions"`, `additional_permissions` with no more than it needs, and a `justification`. Prefer that to leaving the sandbox.';

const REQUEST =
  'To widen the sandbox for later commands, call request_permissions. What is granted for a turn ends with the turn. What is protected stays so.';

const GRANULAR_KINDS: readonly (readonly [name: string, kind: ApprovalKind])[] = [
  ['commands outside the sandbox', 'sandbox_approval'],
  ['commands for which a rule says to ask', 'rules'],
  ['questions of MCP servers', 'mcp_elicitations'],
  ['requests for permissions', 'request_permissions'],
  ['scripts of skills', 'skill_approval'],
];

function granularText(approval: AskForApproval): string {
  const asked = GRANULAR_KINDS.filter(([, kind]) => mayAsk(approval, kind)).map(([name]) => name);
  const refused = GRANULAR_KINDS.filter(([, kind]) => !mayAsk(approval, kind)).map(([name]) => name);
  const sentences = [];
  if (asked.length > 0) sentences.push(`A reviewer is asked about: ${asked.join(', ')}.`);
  if (refused.length > 0) sentences.push(`Refused without asking: ${refused.join(', ')}.`);
  return sentences.join(' ');
}

function listText(places: readonly string[], word: 'and' | 'or'): string {
  return places.length < 2 ? (places[0] ?? '') : `${places.slice(0, -1).join(', ')} ${word} ${places.at(-1)}`;
}
