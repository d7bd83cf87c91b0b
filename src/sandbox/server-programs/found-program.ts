import { constants } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { FileRefusedError } from '../../base/files/file-refused-error.ts';
import { readRegularFileSync } from '../../base/files/read-regular-file.ts';
import { followPath } from '../../base/paths/follow-path.ts';
import { isFile } from '../../base/paths/is-file.ts';
import { isFolder } from '../../base/paths/is-folder.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { statOf, unlessUnseen } from '../../base/paths/stat-of.ts';
import { PATH_DEFAULT } from '../processes/find-program.ts';
import type { ProgramFile } from './server-program.ts';

/** The system reads no more of the first line of a script. */
const FIRST_LINE_BYTES_MAX = 256;
/** The interpreter of a script may be a script. */
const INTERPRETERS_MAX = 4;
/** Where package managers put the tools of a project. */
const TOOL = /\/(?:node_modules\/|\.?venv\/bin\/[^/]+$)/;
/** The package in the innermost `node_modules` of a path. */
const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/.][^/]*(?=\/)/;

interface Searching {
  /** The PATH of the program. */
  path: string | undefined;
  /** The folders that it may be started in. */
  folders: readonly string[];
  /**
   * The folder whose installed packages are tools that change with the project, so that only the
   * programs themselves count. Null: none.
   */
  project: string | null;
}

/**
 * Returns the files that decide what runs under a program's name: the program itself, with its
 * interpreter, and if the name is searched, the files that would be found before it. `isCertain`:
 * whether it is the name of a program, so that it counts also if there is none.
 */
export function foundProgram(
  name: string,
  { path = PATH_DEFAULT, folders, project }: Searching,
  { isCertain }: { isCertain: boolean },
): ProgramFile[] {
  if (name.includes('/')) {
    const files = folders.map((folder) => resolve(folder, name));
    return files
      .filter((file) => isCertain || isFile(file))
      .flatMap((file) => programAt(file, { path, folders, project }));
  }
  const before: ProgramFile[] = [];
  for (const entry of path.split(':')) {
    for (const start of entry.startsWith('/') ? ['/'] : folders) {
      const folder = resolve(start, entry);
      const file = join(folder, name);
      if (isFile(file, constants.X_OK))
        return [...before, ...programAt(file, { path, folders, project })];
      before.push(placeFor(file, folder, project));
    }
  }
  // A tool of the project that is not installed yet would be the only program of its name.
  return isCertain ? before.filter((one) => !isToolOf(project, one.path)) : [];
}

/** A program at a path, which need not exist, and what it needs to run. */
function programAt(file: string, searching: Searching, depth = 0): ProgramFile[] {
  const own: ProgramFile[] = [{ path: file, ifAbsent: 'guard' }];
  if (depth >= INTERPRETERS_MAX || !isFile(file)) return own;
  const { links, end } = followPath(file);
  const paths = isToolOf(searching.project, file)
    ? []
    : [file, ...links.map(({ link }) => link), end];
  const wholes = paths.flatMap((path) => environmentOf(path) ?? PACKAGE.exec(path)?.[0] ?? []);
  const folders = wholes.map((path): ProgramFile => ({ path, ifAbsent: 'watch' }));
  return [...own, ...folders, ...interpreterOf(end, searching, depth + 1)];
}

/**
 * Whether a file is in `node_modules` of a project, or a program in a virtual environment there. If
 * the file does not exist, only its path counts: commands can make any folder a virtual
 * environment.
 */
export function isToolOf(project: string | null, file: string): boolean {
  if (project === null || !isWithin(file, project)) return false;
  return TOOL.test(file.slice(project.length)) || (isFile(file) && environmentOf(file) !== null);
}

/** The virtual environment of Python that a program belongs to. All of it can decide what runs. */
function environmentOf(program: string): string | null {
  const folder = dirname(dirname(program));
  return statOf(join(folder, 'pyvenv.cfg')) === null ? null : folder;
}

function interpreterOf(script: string, searching: Searching, depth: number): ProgramFile[] {
  const [interpreter, ...words] =
    /^#![ \t]*(.*)/
      .exec(firstBytes(script))?.[1]
      ?.trim()
      .split(/[ \t]+/) ?? [];
  if (interpreter === undefined || !interpreter.startsWith('/')) return [];
  const named =
    basename(interpreter) === 'env'
      ? words.find((word) => !word.startsWith('-') && !word.includes('='))
      : undefined;
  const found = named === undefined ? [] : foundProgram(named, searching, { isCertain: true });
  return [...programAt(interpreter, searching, depth), ...found];
}

function firstBytes(path: string): string {
  try {
    return (
      unlessUnseen(() =>
        readRegularFileSync(path, { bytesMax: FIRST_LINE_BYTES_MAX, cut: true }),
      )?.bytes.toString('latin1') ?? ''
    );
  } catch (error) {
    if (error instanceof FileRefusedError) return '';
    throw error;
  }
}

/** The guards that keep a program from being put into a folder that is searched earlier. */
function placeFor(file: string, folder: string, project: string | null): ProgramFile {
  // Package managers make and remove such folders, so a guard would be in their way.
  if (basename(folder) === '.bin' || isToolOf(project, file))
    return { path: file, ifAbsent: 'watch' };
  if (isFolder(folder)) return { path: file, ifAbsent: 'guard' };
  return statOf(dirname(folder)) === null
    ? { path: file, ifAbsent: 'watch' }
    : { path: folder, ifAbsent: 'guard' };
}
