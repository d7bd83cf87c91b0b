import { isObject } from '../../../base/json-value.ts';
import { showText } from '../../../base/text/show-text.ts';
import type {
  AskingAgent,
  CommandExecutionRequestApprovalParams,
  FileSystemPath,
  McpServerElicitationRequestParams,
  RequestPermissionProfile,
} from '../../../protocol/generated/types.ts';

const KINDS = {
  command: 'run this command',
  writeStdin: 'send this input to a running command',
  humanCommand: 'run this command of yours',
} as const;

/** The name of the asking agent: the thread's own, or one that it has started. */
export function whoAsks(agent: AskingAgent | undefined): string {
  return agent === undefined
    ? 'The agent'
    : `The sub-agent ${showText(agent.nickname ?? agent.threadId)}`;
}

/** All that a person has to know about a command. Nothing of it is cut. */
export function shownCommand(params: CommandExecutionRequestApprovalParams): string[] {
  const { kind, command, cwd, networkApprovalContext: target, additionalPermissions } = params;
  const what =
    target === null
      ? KINDS[kind]
      : `reach ${showText(target.host)}, port ${target.port} (${target.protocol})`;
  return [
    `${whoAsks(params.agent)} wants to ${what}.`,
    ...(command === null
      ? []
      : showText(command, { multiline: true })
          .split('\n')
          .map((line, index) => `${index === 0 ? '$' : ' '} ${line}`)),
    ...(cwd === null ? [] : [`  in ${showText(cwd)}`]),
    ...(additionalPermissions === null
      ? []
      : ['  with these permissions:', ...shownPermissions(additionalPermissions)]),
    ...shownReason(params.reason),
  ];
}

export function shownReason(reason: string | null): string[] {
  return reason === null ? [] : [`  reason: ${showText(reason)}`];
}

/** Each permission on a line of its own. */
export function shownPermissions({
  fileSystem,
  network,
}: Pick<RequestPermissionProfile, 'fileSystem' | 'network'>): string[] {
  const { read, write, entries } = fileSystem ?? {};
  const paths = [
    ...(read ?? []).map((path) => `read ${showText(path)}`),
    ...(write ?? []).map((path) => `write ${showText(path)}`),
    ...(entries ?? []).map(({ path, access }) => `${access} ${showText(nameOf(path))}`),
  ];
  return [...new Set(paths), ...(network?.enabled ? ['reach the network'] : [])].map(
    (line) => `    ${line}`,
  );
}

function nameOf(path: FileSystemPath): string {
  switch (path.type) {
    case 'path':
      return path.path;
    case 'glob_pattern':
      return path.pattern;
    case 'special':
      return [path.value.kind, path.value.path, path.value.subpath]
        .filter((part) => part != null)
        .join(' ');
    default:
      return path satisfies never;
  }
}

/**
 * The call of an MCP tool that needs approval, and the ways in which the approval can last. Null:
 * the question is another one.
 */
export function shownMcpApproval({
  _meta,
}: McpServerElicitationRequestParams): { lines: string[]; persist: readonly string[] } | null {
  if (!isObject(_meta) || typeof _meta.codex_approval_kind !== 'string') return null;
  const facts = isObject(_meta.tool_params) ? Object.entries(_meta.tool_params) : [];
  const lines = facts.map(
    ([name, value]) => `    ${showText(name)}: ${showText(JSON.stringify(value) ?? '')}`,
  );
  const prompt =
    _meta.sampling === undefined ? [] : [`    ${showText(JSON.stringify(_meta.sampling))}`];
  const persist = Array.isArray(_meta.persist)
    ? _meta.persist.filter((each) => typeof each === 'string')
    : [];
  return { lines: [...lines, ...prompt], persist };
}
