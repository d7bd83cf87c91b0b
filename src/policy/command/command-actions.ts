import { basename, resolve } from 'node:path';
import type { CommandAction } from '../../protocol/generated/types.ts';
import type { ParsedCommand } from '../parse/parse-command.ts';
import { quoteWords } from '../parse/quote-words.ts';
import type { SimpleCommand } from '../parse/simple-command.ts';

/** Returns the actions of a command for clients to display. They affect no decision. */
export function commandActions({ text, commands }: ParsedCommand, cwd: string): CommandAction[] {
  const unknown: CommandAction[] = [{ type: 'unknown', command: text }];
  if (commands === null) return unknown;
  const actions: CommandAction[] = [];
  let folder = cwd;
  for (const command of commands) {
    const moved = folderAfter(command, folder);
    const action = moved === null ? actionOf(command, folder) : null;
    if (moved !== null) folder = moved;
    else if (action !== null) actions.push(action);
    else if (!isAside(command)) return unknown;
  }
  return actions.length === 0 ? unknown : actions;
}

/**
 * Returns the folder that `cd` changes to. Returns null if it is another command, or the folder is
 * not known.
 */
function folderAfter({ words }: SimpleCommand, folder: string): string | null {
  const [program, ...args] = words;
  const [target, ...others] = args.filter((arg) => arg !== '--');
  return program === 'cd' && target !== undefined && others.length === 0 && !target.startsWith('-')
    ? resolve(folder, target)
    : null;
}

/** Options whose value is the next word. */
const VALUED = {
  head: '-n -c --lines --bytes',
  tail: '-n -c --lines --bytes',
  nl: '-b -d -f -h -i -l -n -s -v -w',
  bat: '-l -r -H --language --line-range --highlight-line --style --theme --color --paging',
  list: '-I -w -T -L -P --ignore --width --tabsize --level --ignore-glob --sort --time -d --max-depth --depth',
  grep: '-A -B -C -m -f -d -D --after-context --before-context --context --max-count --include --exclude --exclude-dir --file',
  rg:
    '-A -B -C -m -g -t -T -f -j -M -r -d -E --after-context --before-context --context --max-count --glob --iglob --type --type-not ' +
    '--max-depth --threads --max-columns --replace --sort --sortr --encoding --file',
  fd: '-e -E -t -d -c -S --extension --exclude --type --max-depth --min-depth --color --size --changed-within --changed-before',
} as const;

function actionOf({ words }: SimpleCommand, folder: string): CommandAction | null {
  const [program = '', ...args] = words;
  const command = quoteWords(words);
  const read = (paths: readonly string[]): CommandAction | null =>
    readAction({ command, paths, folder });
  const list = (paths: readonly string[]): CommandAction => ({
    type: 'listFiles',
    command,
    path: paths[0] ?? null,
  });
  switch (program) {
    case 'cat':
    case 'more':
      return read(operands(args, ''));
    case 'bat':
    case 'batcat':
      return read(operands(args, VALUED.bat));
    case 'less':
      return read(operands(args, '-p -x'));
    case 'head':
    case 'tail':
      return read(operands(args, VALUED[program]).slice(0, 1));
    case 'nl':
      return read(operands(args, VALUED.nl));
    case 'sed':
      return read(sedFiles(args));
    case 'awk':
      return read(operands(args, '-F -v').slice(1));
    case 'ls':
    case 'eza':
    case 'exa':
    case 'tree':
    case 'du':
      return list(operands(args, VALUED.list));
    case 'rg':
    case 'rga':
      return args.includes('--files')
        ? list(operands(args, VALUED.rg))
        : searchAction(command, args, VALUED.rg);
    case 'grep':
    case 'egrep':
    case 'fgrep':
    case 'ag':
    case 'ack':
      return searchAction(command, args, VALUED.grep);
    case 'git':
      if (args[0] === 'grep') return searchAction(command, args.slice(1), VALUED.grep);
      return args[0] === 'ls-files' ? list(operands(args.slice(1), '-x -X --exclude')) : null;
    case 'fd':
    case 'fdfind':
      return fdAction(command, args);
    case 'find':
      return findAction(command, args);
    default:
      return null;
  }
}

/** Returns the words that are neither options nor their values. */
function operands(args: readonly string[], valued: string): string[] {
  const withValue = new Set(valued.split(' '));
  const found: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '--') return [...found, ...args.slice(at + 1)];
    if (withValue.has(arg)) at += 1;
    else if (!arg.startsWith('-') || arg === '-') found.push(arg);
  }
  return found;
}

function readAction({
  command,
  paths,
  folder,
}: {
  command: string;
  paths: readonly string[];
  folder: string;
}): CommandAction | null {
  const [path] = paths;
  if (path === undefined || paths.length !== 1 || path === '-') return null;
  const absolute = resolve(folder, path);
  return { type: 'read', command, name: basename(absolute), path: absolute };
}

/**
 * Returns the files of `sed -n 1,5p file`, which shows lines. Returns none for any other script,
 * which may do more.
 */
function sedFiles(args: readonly string[]): string[] {
  const [quiet, ...rest] = args;
  const [script = '', ...files] = rest[0] === '-e' ? rest.slice(1) : rest;
  return quiet === '-n' && /^\d+(?:,(?:\d+|\$))?p$/.test(script) ? operands(files, '') : [];
}

function searchAction(command: string, args: readonly string[], valued: string): CommandAction {
  const at = args.findIndex((arg) => arg === '-e' || arg === '--regexp');
  const given = at === -1 ? [] : [args[at + 1] ?? ''];
  const rest = at === -1 ? args : [...args.slice(0, at), ...args.slice(at + 2)];
  const [query = null, path = null] = [...given, ...operands(rest, valued)];
  return { type: 'search', command, query, path };
}

function fdAction(command: string, args: readonly string[]): CommandAction | null {
  if (args.some((arg) => /^(?:-[xX]|--exec)/.test(arg))) return null;
  const [query = null, path = null] = operands(args, VALUED.fd);
  return query === null
    ? { type: 'listFiles', command, path }
    : { type: 'search', command, query, path };
}

const FIND_ACTS = /^-(?:exec|ok|delete|fprint|fls)/;

function findAction(command: string, args: readonly string[]): CommandAction | null {
  if (args.some((arg) => FIND_ACTS.test(arg))) return null;
  const path =
    args.find(
      (arg, index) =>
        !/^[-(!]/.test(arg) && index === args.findIndex((other) => !/^-[HLPDO]/.test(other)),
    ) ?? null;
  const named = args.findIndex((arg) => /^-(?:i?name|i?path|i?regex|i?wholename)$/.test(arg));
  const query = named === -1 ? undefined : args[named + 1];
  return query === undefined
    ? { type: 'listFiles', command, path }
    : { type: 'search', command, query, path };
}

/** Commands that only format or accompany the output of others. */
const ASIDE: ReadonlySet<string> = new Set(
  'cut echo head nl printf sort sed tail tr true uniq wc awk column'.split(' '),
);

function isAside({ words }: SimpleCommand): boolean {
  const [program = '', ...args] = words;
  if (!ASIDE.has(program)) return false;
  if (program === 'sed')
    return args.length === 2 && args[0] === '-n' && /^\d+(?:,(?:\d+|\$))?p$/.test(args[1] ?? '');
  return program !== 'awk' || !/system|getline|[|>]/.test(args.join(' '));
}
