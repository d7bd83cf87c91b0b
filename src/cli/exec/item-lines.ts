import type {
  FileUpdateChange,
  HookRunSummary,
  ThreadItem,
  TurnPlanUpdatedNotification,
} from '../../protocol/generated/types.ts';
import type { Color } from '../terminal/painter.ts';
import type { Screen } from './screen.ts';

type Item<Type extends ThreadItem['type']> = Extract<ThreadItem, { type: Type }>;

/** The lines of one item, apart from its first. */
const BODY_LINES_MAX = 8;
const COMMAND_LINES_MAX = 3;
const BODY = '  | ';

/**
 * The line that announces an item when it begins. Null: it is shown when it has ended, or not at
 * all.
 */
export function startLines(item: ThreadItem, screen: Screen): string[] | null {
  switch (item.type) {
    case 'commandExecution':
      return commandLines(item.command, screen);
    case 'mcpToolCall':
      return [
        screen.line(`${item.server}.${item.tool} ${jsonOf(item.arguments)}`, { color: 'bold' }),
      ];
    case 'dynamicToolCall':
      return [screen.line(`${item.tool} ${jsonOf(item.arguments)}`, { color: 'bold' })];
    case 'collabAgentToolCall':
      return [
        screen.line(`${item.tool}${item.prompt ? `: ${item.prompt}` : ''}`, { color: 'bold' }),
      ];
    case 'sleep':
      return [screen.line(`waits for ${shownSeconds(item.durationMs)}`, { color: 'dim' })];
    default:
      return null;
  }
}

/** The decision or the complaint of a hook. No lines: a person need not know it. */
export function hookLines(
  { eventName, status, entries }: HookRunSummary,
  screen: Screen,
): string[] {
  const texts = entries.filter(({ kind }) => kind !== 'context').map(({ text }) => text);
  if (status === 'completed' && texts.length === 0) return [];
  const outcome = status === 'completed' ? '' : ` (${status})`;
  const line = `hook ${eventName}${outcome}${texts.length === 0 ? '' : `: ${texts.join(' ')}`}`;
  return [screen.line(line, { color: status === 'completed' ? 'dim' : 'red', isWhole: true })];
}

/** The outcome of an item, without the lines that have announced it. */
export function itemLines(item: ThreadItem, screen: Screen): string[] {
  switch (item.type) {
    case 'commandExecution':
      return [
        ...body((item.aggregatedOutput ?? '').split('\n'), screen),
        ...commandEnd(item, screen),
      ];
    case 'fileChange':
      return [
        ...item.changes.flatMap((change) => changeLines(change, screen)),
        ...failure(item, screen),
      ];
    case 'mcpToolCall':
      return [
        ...body(resultLines(item), screen),
        ...(item.error ? [screen.line(item.error.message, { indent: '  ', color: 'red' })] : []),
      ];
    case 'dynamicToolCall':
    case 'collabAgentToolCall':
      return item.status === 'failed'
        ? [screen.line('failed', { indent: '  ', color: 'red' })]
        : [];
    case 'reasoning':
      return body(
        (item.summary ?? []).flatMap((part) => part.split('\n')),
        screen,
        { indent: '  ' },
      );
    case 'webSearch':
      return [screen.line(`search: ${searched(item)}`, { color: 'bold' })];
    case 'imageView':
      return [screen.line(`looks at ${screen.path(item.path)}`, { color: 'bold' })];
    case 'imageGeneration':
      return [
        screen.line(`image ${screen.path(item.savedPath ?? item.id)} (${item.status})`, {
          color: 'bold',
        }),
      ];
    case 'subAgentActivity':
      return [screen.line(`sub-agent ${item.agentPath}: ${item.kind}`, { color: 'dim' })];
    case 'contextCompaction':
      return [screen.line('the history was replaced by a summary', { color: 'dim' })];
    default:
      return [];
  }
}

const MARKS = { completed: '[x]', inProgress: '[>]', pending: '[ ]' } as const;

/** The agent's plan for the turn, with a mark for each step. */
export function planLines(
  { explanation, plan }: TurnPlanUpdatedNotification,
  screen: Screen,
): string[] {
  const steps = plan.map(({ step, status }) =>
    screen.line(`${MARKS[status]} ${step}`, { indent: '  ' }),
  );
  return [
    screen.line(`plan${explanation ? `: ${explanation}` : ':'}`, { color: 'bold' }),
    ...steps,
  ];
}

/**
 * The changes of each file with their diffs. A diff is whole for a person who has to decide about
 * it, otherwise cut.
 */
export function changeLines(change: FileUpdateChange, screen: Screen, isWhole = false): string[] {
  const { kind, path } = change;
  const shown = (name: string) => (isWhole ? name : screen.path(name));
  const moved = kind.type === 'update' && kind.move_path ? ` -> ${shown(kind.move_path)}` : '';
  const lines = diffLines(change);
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  const first = screen.line(`${kind.type} ${shown(path)}${moved} (+${count('+')} -${count('-')})`, {
    color: 'bold',
    isWhole,
  });
  return [first, ...body(lines, screen, { isDiff: true, isWhole })];
}

/**
 * The lines of a diff that show a change, each with its sign. For an added or deleted file, the
 * diff is its content.
 */
function diffLines({ kind, diff }: FileUpdateChange): string[] {
  const lines = diff.replace(/\n$/, '').split('\n');
  if (kind.type === 'update') return lines.filter((line) => !/^(?:---|\+\+\+) /.test(line));
  return diff === '' ? [] : lines.map((line) => `${kind.type === 'add' ? '+' : '-'}${line}`);
}

function commandLines(command: string, screen: Screen): string[] {
  const [first = '', ...others] = command.split('\n');
  const shown = others
    .slice(0, COMMAND_LINES_MAX - 1)
    .map((line) => screen.line(line, { indent: '  ', color: 'bold' }));
  return [
    screen.line(first, { indent: '$ ', color: 'bold' }),
    ...shown,
    ...rest(others.length - shown.length, screen, '  '),
  ];
}

function commandEnd(
  { status, exitCode, durationMs }: Item<'commandExecution'>,
  screen: Screen,
): string[] {
  const time = durationMs == null ? '' : ` after ${shownSeconds(durationMs)}`;
  if (status === 'inProgress')
    return [screen.line('continues in the background', { indent: '  ', color: 'dim' })];
  if (status === 'declined') return [screen.line('declined', { indent: '  ', color: 'red' })];
  if (exitCode === 0) return [screen.line(`exit code 0${time}`, { indent: '  ', color: 'dim' })];
  return [
    screen.line(exitCode == null ? `failed${time}` : `exit code ${exitCode}${time}`, {
      indent: '  ',
      color: 'red',
    }),
  ];
}

function failure({ status }: Item<'fileChange'>, screen: Screen): string[] {
  return status === 'failed' || status === 'declined'
    ? [screen.line(status, { indent: '  ', color: 'red' })]
    : [];
}

function resultLines({ result }: Item<'mcpToolCall'>): string[] {
  const parts = result?.content ?? [];
  return parts.flatMap((part) => {
    const text =
      typeof part === 'object' && part !== null && 'text' in part ? part.text : undefined;
    return typeof text === 'string' ? text.split('\n') : [jsonOf(part)];
  });
}

function searched({ query, action }: Item<'webSearch'>): string {
  switch (action?.type) {
    case 'openPage':
      return action.url ?? query;
    case 'findInPage':
      return `${action.pattern ?? ''} in ${action.url ?? query}`;
    default:
      return query;
  }
}

interface BodyOptions {
  indent?: string;
  isWhole?: boolean;
  /** Whether the first character of a line is the sign of a diff. */
  isDiff?: boolean;
}

/** The first and the last lines, and how many are left out between them. */
function body(all: readonly string[], screen: Screen, options: BodyOptions = {}): string[] {
  const { indent = BODY, isWhole = false, isDiff = false } = options;
  const lines = all.at(-1) === '' ? all.slice(0, -1) : all;
  const shown = (line: string) =>
    screen.line(line, { indent, isWhole, color: isDiff ? diffColor(line) : 'dim' });
  if (isWhole || lines.length <= BODY_LINES_MAX + 1) return lines.map(shown);
  const ends = BODY_LINES_MAX / 2;
  const left = lines.length - 2 * ends;
  return [
    ...lines.slice(0, ends).map(shown),
    ...rest(left, screen, indent),
    ...lines.slice(-ends).map(shown),
  ];
}

function diffColor(line: string): Color {
  return line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : 'dim';
}

function rest(count: number, screen: Screen, indent: string): string[] {
  return count > 0
    ? [screen.line(`… ${count} more line${count === 1 ? '' : 's'}`, { indent, color: 'dim' })]
    : [];
}

function jsonOf(value: unknown): string {
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** A duration, from milliseconds. */
export function shownSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
