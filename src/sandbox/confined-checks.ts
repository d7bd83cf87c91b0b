import { accessSync, constants, statSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { hasErrorCode } from '../base/system-error.ts';
import type { SandboxBounds } from '../policy/sandbox-bounds.ts';
import type { PlaceKind } from './bubblewrap-mounts.ts';
import { realPath } from './file-facts.ts';
import { ProcessStartError } from './processes.ts';
import type { Confined } from './sandbox.ts';
import type { BuiltView } from './sandbox-view.ts';

const PATH_DEFAULT = '/usr/local/bin:/usr/bin:/bin';
/** What changes any program that is started with it, the one that confines as well. */
const CHANGES_PROGRAMS = /^(LD_|DYLD_|GLIBC_|MALLOC_|GCONV_PATH$|LOCPATH$|NLSPATH$|ENV$|BASH_ENV$|BASH_FUNC_|SHELLOPTS$|BASHOPTS$|PS4$)/;

/** Throws a `ProcessStartError` for what can be no path, so that each is one argument that begins with a slash. */
export function requirePlainPaths({ argv, cwd }: Confined, { readable, writableRoots, home }: SandboxBounds): void {
  const paths = [cwd, home, ...writableRoots, ...(readable === 'everything' ? [] : readable.roots)];
  const wrong = paths.find((path) => !isAbsolute(path)) ?? [...paths, ...argv].find((text) => text.includes('\0'));
  if (wrong !== undefined) throw new ProcessStartError(`${JSON.stringify(wrong)}: no absolute path, or it holds a NUL.`);
}

/** Throws a `ProcessStartError` where there is no such program outside either: what starts it inside could not say so. */
export function requireProgram({ argv: [program = ''], cwd, env }: Confined): void {
  const folders = program.includes('/') ? [''] : (env.PATH ?? PATH_DEFAULT).split(':');
  const found = folders.some((folder) => isProgram(resolve(cwd, folder, program)));
  if (program === '' || !found) throw new ProcessStartError(`${program}: no such program`);
}

/** Throws a `ProcessStartError` where the folder to run in is none, or is not there in the view. */
export function requireFolder(cwd: string, { view: { everything, places }, notFollowed }: Pick<BuiltView, 'view' | 'notFollowed'>): void {
  const link = notFollowed.get(cwd);
  if (link !== undefined) {
    throw new ProcessStartError(
      `${cwd}: ${link} is a symbolic link out of the workspace that a command can have made. Name the folder that it leads to instead.`,
    );
  }
  const real = realPath(cwd);
  if (real === null || !statSync(real).isDirectory()) throw new ProcessStartError(`${cwd}: no such folder`);
  const kind = nearestPlace(real, places);
  if (kind === undefined ? everything : kind === 'read' || kind === 'write' || places.has(real)) return;
  throw new ProcessStartError(`${cwd}: this folder cannot be read in the sandbox`);
}

/** What the confining program may be started with, and what only the confined one may have. */
export function splitEnvironment(env: Readonly<Record<string, string>>): { kept: Record<string, string>; moved: [string, string][] } {
  const all = Object.entries(env);
  const moved = all.filter(([name]) => CHANGES_PROGRAMS.test(name));
  return { kept: Object.fromEntries(all.filter(([name]) => !CHANGES_PROGRAMS.test(name))), moved };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return !statSync(path).isDirectory();
  } catch (error) {
    if (hasErrorCode(error, ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG'])) return false;
    throw error;
  }
}

function nearestPlace(path: string, places: ReadonlyMap<string, PlaceKind>): PlaceKind | undefined {
  for (let above = path; ; above = dirname(above)) {
    const kind = places.get(above);
    if (kind !== undefined || above === '/') return kind;
  }
}
