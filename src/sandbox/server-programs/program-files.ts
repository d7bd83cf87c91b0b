import { constants } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { textOf } from '../../base/files/text-of.ts';
import { isObject } from '../../base/json-value.ts';
import { foldersAbove } from '../../base/paths/folders-above.ts';
import { isFile } from '../../base/paths/is-file.ts';
import { isFolder } from '../../base/paths/is-folder.ts';
import { SHELL_BUILT_INS } from '../../base/processes/shell-built-ins.ts';
import { CODE_SOURCES } from '../../policy/outside/code-sources.ts';
import { possibleFolders, possiblePaths } from '../../policy/outside/named-paths.ts';
import { programKind } from '../../policy/outside/program-kind.ts';
import { programName } from '../../policy/parse/program-name.ts';
import type { SimpleCommand } from '../../policy/parse/simple-command.ts';
import { foundProgram, isToolOf } from './found-program.ts';
import type { ProgramLine } from './program-line.ts';
import { hasScriptName, scriptPositions, scriptWords } from './script-words.ts';
import type { ProgramFile, ServerProgram } from './server-program.ts';
import { shellStartFiles } from './shell-start-files.ts';

/** Of a program that names more files, these are protected. */
const FILES_MAX = 1000;
/** How many paths that the words of a command may mean are looked at. */
const NAMED_MAX = 2000;
const MANIFEST_BYTES_MAX = 1024 * 1024;
const PYTHON = /^(?:python|pypy)[\d.]*$/;

/**
 * Returns the files that a program runs, as far as its arguments and the files themselves name
 * them: the program, its interpreter, its scripts and every other file that an argument names and
 * that may be a script. It does not know what scripts load in turn, such as modules.
 */
export function programFiles(
  { cwd, env, kind }: ServerProgram,
  { shell, certain, possible, inputs, paths }: ProgramLine,
): ProgramFile[] {
  const startFiles = shell === null ? [] : shellStartFiles({ ...shell, shell: shell.path, env });
  if (kind === 'approved') return startFiles;
  const project = shell === null ? null : cwd;
  const own =
    shell === null
      ? []
      : foundProgram(shell.path, { path: env.PATH, folders: [cwd], project }, { isCertain: true });
  const all = [...certain, ...possible];
  const folders = possibleFolders(all, [cwd], env.HOME);
  const files = all.flatMap((command, index) =>
    commandFiles(command, {
      searched: [env.PATH, ...paths],
      folders: folders[index] ?? [cwd],
      isCertain: index < certain.length,
      project,
    }),
  );
  const read = inputs.map((word) => resolve(cwd, word)).filter((path) => isFile(path));
  const found = [...startFiles, ...own, ...files, ...read.map(guarded)].flatMap((file) =>
    asInstalled(file, project),
  );
  const watched = found.filter(({ ifAbsent }) => ifAbsent === 'watch');
  // A guard counts more than a watch.
  const byPath = new Map(
    [...watched, ...found.filter(({ ifAbsent }) => ifAbsent === 'guard')].map((file) => [
      file.path,
      file,
    ]),
  );
  return [...byPath.values()].slice(0, FILES_MAX);
}

interface CommandPlace {
  /** The values that PATH may have. */
  searched: readonly (string | undefined)[];
  /** The folders that it may run in. */
  folders: readonly string[];
  /** Whether it certainly runs. */
  isCertain: boolean;
  /** The working directory, if a shell runs it. Then its tools count as those of a project. */
  project: string | null;
}

function commandFiles(
  command: SimpleCommand,
  { searched, folders, isCertain, project }: CommandPlace,
): ProgramFile[] {
  const [program = '', ...args] = command.words;
  const isShell = project !== null;
  const isProgram =
    program !== '' && !/^-|^\w+=/.test(program) && !(isShell && SHELL_BUILT_INS.has(program));
  const own = (isProgram ? inFolders(program, folders) : []).flatMap((name) =>
    searched.flatMap((path) => foundProgram(name, { path, folders, project }, { isCertain })),
  );
  if (programKind(command.words) !== 'unknown') return own;
  const words = args.flatMap((word) => inFolders(word, folders));
  const inside = [...folders, ...possiblePaths(valuesOf(words), folders).filter(isFolder)];
  const name = programName(program);
  const scripts = isCertain
    ? scriptWords(name, words).flatMap((word) => scriptPlaces(word, inside))
    : [];
  const placed = new Set(possiblePaths(scriptPositions(name, words), inside));
  // It is not known what stands before the words of a line that is not understood.
  const mayRun = (path: string) =>
    program === '\0' || placed.has(path) || hasScriptName(path) || isFile(path, constants.X_OK);
  return [
    ...own,
    ...possiblePaths(words, inside)
      .slice(0, NAMED_MAX)
      .filter((path) => isFile(path) && mayRun(path))
      .map(guarded),
    ...scripts
      .flatMap((path) => (isFolder(path) ? runnableIn(path, name) : withEnding(path)))
      .map(guarded),
    ...(PYTHON.test(name) ? folders.flatMap((folder) => modulesOf(words, folder)) : []),
    // The tools of a project, which a hook runs, change with the project.
    ...(CODE_SOURCES.get(name)?.runsPackages === true && !isShell
      ? folders.flatMap((folder) => packagesOf(words, folder))
      : []),
  ];
}

/**
 * A file of a tool that is installed in the project can be installed and removed: neither its
 * absence nor a link to it is protected.
 */
function asInstalled(file: ProgramFile, project: string | null): ProgramFile[] {
  if (file.ifAbsent === 'watch' || !isToolOf(project, file.path)) return [file];
  return isFile(file.path) ? [{ ...file, leavesLinks: true }] : [];
}

function guarded(path: string): ProgramFile {
  return { path, ifAbsent: 'guard' };
}

/**
 * Returns a word as it is. If only the shell knows its beginning, such as that of `$(git rev-parse
 * --show-toplevel)/tools/x`, returns the paths that the rest may mean: in the folders, and in those
 * above them if something is there.
 */
function inFolders(word: string, folders: readonly string[]): string[] {
  if (!word.includes('\0')) return [word];
  const rest = word.slice(word.lastIndexOf('\0') + 1).replace(/^\/+/, '');
  if (rest === '' || !word.includes('/') || word.indexOf('\0') > 0) return [];
  const above = folders.flatMap(allAbove).map((folder) => join(folder, rest));
  return [...folders.map((folder) => join(folder, rest)), ...above.filter((path) => isFile(path))];
}

/** A folder and those above it, however many there are. */
function allAbove(folder: string): string[] {
  return foldersAbove(folder, Number.POSITIVE_INFINITY) ?? [];
}

/** The values of options that may be folders to work in. */
function valuesOf(args: readonly string[]): string[] {
  return args.flatMap((word, index) => [
    /^-[^=]*=(.+)/.exec(word)?.[1] ?? '',
    args[index - 1]?.startsWith('-') === true ? word : '',
  ]);
}

/**
 * The places of a script: in the folder that the program starts in, and in others if their part of
 * the path exists.
 */
function scriptPlaces(word: string, [start = '/', ...others]: readonly string[]): string[] {
  const elsewhere = others
    .map((folder) => resolve(folder, word))
    .filter((path) => isFolder(dirname(path)));
  return [...new Set([resolve(start, word), ...elsewhere])];
}

/** Node finds `server.js` for `server`. */
function withEnding(path: string): string[] {
  return isFile(path) || basename(path).includes('.') ? [path] : [path, `${path}.js`];
}

/** The files that an interpreter runs in a folder that it gets as a script. */
function runnableIn(folder: string, interpreter: string): string[] {
  if (interpreter !== 'node') return PYTHON.test(interpreter) ? [join(folder, '__main__.py')] : [];
  const manifest = join(folder, 'package.json');
  let main: unknown;
  try {
    const content: unknown = JSON.parse(textOf(manifest, MANIFEST_BYTES_MAX) ?? 'null');
    main = isObject(content) ? content.main : undefined;
  } catch {
    // Node does not run it either.
  }
  return [
    manifest,
    join(folder, 'index.js'),
    ...(typeof main === 'string' ? [resolve(folder, main)] : []),
  ];
}

/**
 * The files in the working directory that `python -m MODULE` runs, each also if it does not exist.
 */
function modulesOf(args: readonly string[], folder: string): ProgramFile[] {
  const name = args[args.indexOf('-m') + 1];
  if (!args.includes('-m') || name === undefined || !/^[\w.]+$/.test(name)) return [];
  const parts = name.split('.');
  const steps = parts.map((_, index) => join(folder, ...parts.slice(0, index + 1)));
  const packages = steps.filter(isFolder);
  const missing = steps.find((step) => !isFolder(step));
  const ends =
    missing === undefined ? [join(folder, ...parts, '__main__.py')] : [missing, `${missing}.py`];
  return [...packages.map((one) => join(one, '__init__.py')), ...ends].map(guarded);
}

/**
 * The packages that a package runner would take from the project, and the settings of npm there.
 */
function packagesOf(args: readonly string[], folder: string): ProgramFile[] {
  const named = args.flatMap((word) =>
    word.startsWith('-') ? (/^--package=(.+)/.exec(word)?.[1] ?? []) : [word],
  );
  const names = named
    .flatMap((word) => /^((?:@[\w.-]+\/)?[\w.-]+)(?:@[^/]*)?$/.exec(word)?.[1] ?? [])
    .slice(0, 2);
  const paths = allAbove(folder).flatMap((at) => [
    join(at, '.npmrc'),
    ...names.flatMap((name) => [
      join(at, 'node_modules', name),
      join(at, 'node_modules/.bin', basename(name)),
    ]),
  ]);
  return paths.map((path) => ({ path, ifAbsent: 'watch' }));
}
