import type { AskForApproval, SandboxPolicy } from '../protocol/generated/types.ts';

/** Tells the model what commands can do, and when somebody is asked. */
export function permissionsText(sandbox: SandboxPolicy, approval: AskForApproval): string {
  return `Permissions\n\n${sandboxText(sandbox)}\n\n${approvalText(approval)}`;
}

function sandboxText(sandbox: SandboxPolicy): string {
  switch (sandbox.type) {
    case 'dangerFullAccess':
      return 'Commands run without a sandbox, with all the rights of the user: files anywhere and the network. Take the care that this asks for.';
    case 'externalSandbox':
      return `Commands run in a sandbox that was set up outside of heddle; its bounds are not known here. ${networkText(sandbox.networkAccess === 'enabled')}`;
    case 'readOnly':
      return `Commands run in a sandbox that lets them read files and write none. ${networkText(sandbox.networkAccess === true)}`;
    case 'workspaceWrite':
      return `Commands run in a sandbox that lets them read files and write only in ${writableText(sandbox)}. ${networkText(sandbox.networkAccess === true)}`;
    default:
      return sandbox satisfies never;
  }
}

function writableText({ writableRoots, excludeSlashTmp, excludeTmpdirEnvVar }: Extract<SandboxPolicy, { type: 'workspaceWrite' }>): string {
  const places = ['the working folder', ...(writableRoots ?? [])];
  if (!excludeSlashTmp) places.push('/tmp');
  if (!excludeTmpdirEnvVar) places.push('the folder that $TMPDIR names');
  return places.length === 1 ? (places[0] ?? '') : `${places.slice(0, -1).join(', ')} and ${places.at(-1)}`;
}

function networkText(allowed: boolean): string {
  return allowed ? 'The network can be reached.' : 'The network cannot be reached.';
}

function approvalText(approval: AskForApproval): string {
  switch (approval) {
    case 'untrusted':
      return 'Every command that is not known to be harmless is shown to a reviewer first, who may decline it.';
    case 'on-failure':
      return 'Commands run without asking. When the sandbox stops one, a reviewer is asked whether it may run outside.';
    case 'on-request':
      return 'Commands run in the sandbox without asking. When one needs to go beyond it, ask for that in the tool call, with a short reason; a reviewer decides.';
    case 'never':
      return 'Nobody is asked for approval: what goes beyond these limits is refused. Do not ask for more; work within them, and say what you could not do.';
    default:
      return granularText(approval.granular);
  }
}

type Granular = Extract<AskForApproval, { granular: unknown }>['granular'];

function granularText(granular: Granular): string {
  const kinds = [
    ['commands outside the sandbox', granular.sandbox_approval],
    ['commands for which a rule says to ask', granular.rules],
    ['questions of MCP servers', granular.mcp_elicitations],
    ['requests for permissions', granular.request_permissions === true],
    ['scripts of skills', granular.skill_approval === true],
  ] as const;
  const asked = kinds.filter(([, asks]) => asks).map(([kind]) => kind);
  const refused = kinds.filter(([, asks]) => !asks).map(([kind]) => kind);
  const sentences = [];
  if (asked.length > 0) sentences.push(`A reviewer is asked about: ${asked.join(', ')}.`);
  if (refused.length > 0) sentences.push(`Refused without asking: ${refused.join(', ')}.`);
  return sentences.join(' ');
}
