import type { HiddenPattern } from '../config/inherited-limits.ts';
import { type ApprovalKind, mayAsk } from '../policy/approvals/may-ask.ts';
import { mustStayInside } from '../policy/permissions/required/required-hidden.ts';
import { type GrantedPermissions, PROTECTED_NAMES } from '../policy/permissions/sandbox-bounds.ts';
import type { AskForApproval, ReadOnlyAccess, SandboxPolicy } from '../protocol/generated/types.ts';

/** The settings that say what the model's commands may do, and how it can ask for more. */
export interface PermissionsInput {
  sandboxPolicy: SandboxPolicy;
  approvalPolicy: AskForApproval;
  /** Further directories of the workspace. */
  workspaceRoots?: readonly string[];
  /** The files that are hidden. Null or absent: none. */
  hidden?: readonly HiddenPattern[] | null;
  /** Permissions that the user has granted for the session. */
  granted?: readonly GrantedPermissions[];
  /**
   * The hosts that commands reach through their proxy. Null: if they have the network, they have it
   * directly.
   */
  managedNetwork?: ManagedNetwork | null;
  /** Whether the model has the tool `request_permissions`. */
  asksForPermissions?: boolean;
  /** Whether a single command can ask for additional permissions. */
  widensCommands?: boolean;
}

/** How commands reach the network through a proxy, as plain data. */
export interface ManagedNetwork {
  /** Whether only GET, HEAD and OPTIONS requests over plain HTTP are possible. */
  limited: boolean;
  /** Patterns of hosts. */
  allowed: readonly string[];
  denied: readonly string[];
}

/** The most hosts, or patterns, of a list that the model is told of. */
const LISTED_MAX = 50;

/** Tells the model what commands can do, what needs approval, and how to ask for it. */
export function permissionsText(input: PermissionsInput): string {
  const { sandboxPolicy: sandbox, approvalPolicy: approval } = input;
  const isConfined = sandbox.type === 'readOnly' || sandbox.type === 'workspaceWrite';
  const parts = [
    sandboxText(input),
    isConfined ? hiddenText(input.hidden ?? []) : null,
    isConfined ? grantedText(input.granted ?? []) : null,
    isConfined ? managedText(input) : null,
    approvalText(approval, isConfined),
  ];
  if (isConfined && mayLeave(approval) && input.widensCommands === true) parts.push(WIDENING);
  if (isConfined && mayLeave(approval))
    parts.push(mustStayInside(input.hidden) ? STAYS_INSIDE : ESCALATION);
  if (isConfined && input.asksForPermissions === true && mayAsk(approval, 'request_permissions'))
    parts.push(REQUEST);
  return `Permissions\n\n${parts.filter((part) => part !== null).join('\n\n')}`;
}

function sandboxText({ sandboxPolicy: sandbox, workspaceRoots = [] }: PermissionsInput): string {
  switch (sandbox.type) {
    case 'dangerFullAccess':
      return 'Commands run without a sandbox (danger-full-access) and with all rights of the user: they can change any file and use the network. Be careful.';
    case 'externalSandbox':
      return `Commands run in a sandbox that was set up outside heddle; heddle does not know its limits. ${networkText(sandbox.networkAccess === 'enabled')}`;
    case 'readOnly':
      return `Commands run in a read-only sandbox: they can read ${readablePlaces(sandbox.access, workspaceRoots)} and cannot write anything. ${networkText(sandbox.networkAccess === true)}`;
    case 'workspaceWrite':
      return `Commands run in a workspace-write sandbox: they can read ${readablePlaces(sandbox.readOnlyAccess, workspaceRoots)} and can write only in ${writablePlaces(sandbox, workspaceRoots)}. ${networkText(sandbox.networkAccess === true)} ${PROTECTED}`;
    default:
      return sandbox satisfies never;
  }
}

const STAYS_INSIDE =
  'No command can run outside the sandbox, because the administrator of this machine hides files from all commands. Do not ask for it.';

const PROTECTED = `In the writable directories, ${listText(PROTECTED_NAMES, 'and')} are read-only and cannot be created. In directories below them, those that exist are read-only.`;

function readablePlaces(
  access: ReadOnlyAccess | null | undefined,
  workspaceRoots: readonly string[],
): string {
  if (access?.type !== 'restricted') return 'files';
  const places = ['the working directory', ...workspaceRoots, ...(access.readableRoots ?? [])];
  if (access.includePlatformDefaults !== false) places.push('the system files that programs need');
  return `only ${listText([...new Set(places)], 'and')}`;
}

function writablePlaces(
  {
    writableRoots,
    excludeSlashTmp,
    excludeTmpdirEnvVar,
  }: Extract<SandboxPolicy, { type: 'workspaceWrite' }>,
  workspaceRoots: readonly string[],
): string {
  const places = ['the working directory', ...workspaceRoots, ...(writableRoots ?? [])];
  if (!excludeSlashTmp) places.push('/tmp');
  if (!excludeTmpdirEnvVar) places.push('the directory in $TMPDIR');
  return listText([...new Set(places)], 'and');
}

function networkText(allowed: boolean): string {
  return allowed ? 'Commands can use the network.' : 'Commands cannot use the network.';
}

/** Returns null if commands have no network, or have it directly. */
function managedText({
  sandboxPolicy,
  approvalPolicy,
  granted = [],
  managedNetwork = null,
}: PermissionsInput): string | null {
  const hasNetwork =
    ('networkAccess' in sandboxPolicy && sandboxPolicy.networkAccess === true) ||
    granted.some(({ network }) => network);
  if (managedNetwork === null || !hasNetwork) return null;
  const { limited, allowed, denied } = managedNetwork;
  const others = mayAsk(approvalPolicy, 'sandbox_approval')
    ? 'A reviewer is asked about each other host while the command waits, but never about local addresses.'
    : 'All other hosts are refused.';
  return [
    `Commands in the sandbox reach the network only through the proxy in the environment ${limited ? 'variable HTTP_PROXY' : 'variables HTTP_PROXY, HTTPS_PROXY and ALL_PROXY'}; a program that ignores ${limited ? 'it' : 'them'} has no network.`,
    ...(limited
      ? ['The proxy only passes on GET, HEAD and OPTIONS requests over plain HTTP.']
      : []),
    allowed.length === 0
      ? 'The configuration allows no host.'
      : `Allowed hosts: ${firstOf(allowed)}.`,
    ...(denied.length === 0 ? [] : [`Denied hosts: ${firstOf(denied)}.`]),
    'Rules of the user may allow or deny more.',
    others,
    'If a host is refused, do not try to reach it in another way.',
  ].join(' ');
}

/** Returns null if nothing is hidden. */
function hiddenText(hidden: readonly HiddenPattern[]): string | null {
  if (hidden.length === 0) return null;
  const shown = hidden.map(({ path }) => `\`${path.replace(/^:workspace_roots\//, '')}\``);
  return `Files and folders that match these patterns are hidden from commands in the sandbox and from your tools, because the user keeps their content secret: ${firstOf(shown)}. Do not try to read or write them in another way. If a task needs one, say so.`;
}

function firstOf(texts: readonly string[]): string {
  const more = texts.length - LISTED_MAX;
  return `${texts.slice(0, LISTED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns null if nothing has been granted. */
function grantedText(granted: readonly GrantedPermissions[]): string | null {
  const of = (kind: 'read' | 'write') => [...new Set(granted.flatMap((grant) => grant[kind]))];
  const [read, write] = [of('read'), of('write')];
  const parts = [];
  if (read.length > 0) parts.push(`to read ${listText(read, 'and')}`);
  if (write.length > 0) parts.push(`to write ${listText(write, 'and')}`);
  if (granted.some(({ network }) => network)) parts.push('to use the network');
  return parts.length === 0 ? null : `Granted in addition, for this session: ${parts.join('; ')}.`;
}

function approvalText(approval: AskForApproval, isConfined: boolean): string {
  switch (approval) {
    case 'untrusted':
      return 'A reviewer must approve every command that is not known to be harmless, and every patch.';
    case 'on-failure':
      return isConfined
        ? 'Commands run in the sandbox without approval. If the sandbox blocks a command, a reviewer is asked whether it may run again outside; you do not need to ask.'
        : 'Commands run without approval.';
    case 'on-request':
      return isConfined
        ? 'Commands run in the sandbox without approval. If a command needs to go beyond the sandbox, ask for that in the tool call; a reviewer decides.'
        : 'Commands run without approval, except those for which a rule requires it.';
    case 'never':
      return 'No approval is possible: anything beyond these limits is refused. Do not ask for more; work within the limits, and say what you could not do.';
    default:
      return granularText(approval);
  }
}

/**
 * Whether a command may ask to leave the sandbox. Under `on-failure` the server asks instead, after
 * the sandbox has stopped it.
 */
function mayLeave(approval: AskForApproval): boolean {
  return mayAsk(approval, 'sandbox_approval') && approval !== 'on-failure';
}

const ESCALATION =
  'To run a command outside the sandbox, set `sandbox_permissions: "require_escalated"` and give a `justification`: a short question to the user. If the program only prints, a `prefix_rule` such as ["ps", "-o"] proposes that commands with this beginning may run without approval from now on; keep it narrow. Ask only for what the task needs, and only if the command clearly cannot work in the sandbox. If the request is declined, do not try to get the same result in another way.';

const WIDENING =
  'To let one command read or write more, or use the network, while it stays in the sandbox, set `sandbox_permissions: "with_additional_permissions"`, list only what the command needs in `additional_permissions`, and give a `justification`. Prefer this to running outside the sandbox.';

const REQUEST =
  'To widen the sandbox for later commands, call request_permissions. Permissions that are granted for a turn end with the turn. Protected paths stay protected.';

const GRANULAR_KINDS: readonly (readonly [name: string, kind: ApprovalKind])[] = [
  ['commands outside the sandbox', 'sandbox_approval'],
  ['commands for which a rule requires approval', 'rules'],
  ['questions from MCP servers', 'mcp_elicitations'],
  ['permission requests', 'request_permissions'],
  ['skill scripts', 'skill_approval'],
];

function granularText(approval: AskForApproval): string {
  const asked = GRANULAR_KINDS.filter(([, kind]) => mayAsk(approval, kind)).map(([name]) => name);
  const refused = GRANULAR_KINDS.filter(
    ([, kind]) => !mayAsk(approval, kind) && kind !== 'skill_approval',
  ).map(([name]) => name);
  const sentences = [];
  if (asked.length > 0) sentences.push(`A reviewer is asked about: ${asked.join(', ')}.`);
  if (refused.length > 0)
    sentences.push(`Refused without asking a reviewer: ${refused.join(', ')}.`);
  return sentences.join(' ');
}

function listText(places: readonly string[], word: 'and' | 'or'): string {
  return places.length < 2
    ? (places[0] ?? '')
    : `${places.slice(0, -1).join(', ')} ${word} ${places.at(-1)}`;
}
