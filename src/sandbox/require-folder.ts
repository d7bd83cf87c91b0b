import { isAbsolute } from 'node:path';
import { isWithin } from '../base/is-within.ts';
import { realPath } from '../base/real-path.ts';
import type { SandboxBounds } from '../policy/permissions/sandbox-bounds.ts';
import { nearestKind } from './linux/bubblewrap-mounts.ts';
import type { BuiltView } from './linux/sandbox-view.ts';
import { ProcessStartError } from './processes/processes.ts';
import type { Confined } from './sandbox.ts';

/** What changes any program that is started with it, the one that confines as well. */
const CHANGES_PROGRAMS = /^(LD_|DYLD_|GLIBC_|MALLOC_|GCONV_PATH$|LOCPATH$|NLSPATH$|ENV$|BASH_ENV$|BASH_FUNC_|SHELLOPTS$|BASHOPTS$|PS4$)/;

/** Throws a `ProcessStartError` for what can be no path, so that each is one argument that begins with a slash. */
export function requirePlainPaths({ argv, cwd }: Confined, { readable, writableRoots, home }: SandboxBounds): void {
  const paths = [cwd, home, ...writableRoots, ...(readable === 'everything' ? [] : readable.roots)];
  const wrong = paths.find((path) => !isAbsolute(path)) ?? [...paths, ...argv].find((text) => text.includes('\0'));
  if (wrong !== undefined) throw new ProcessStartError(`${JSON.stringify(wrong)}: no absolute path, or it holds a NUL.`);
}

/** Throws a `ProcessStartError` where the folder to run in is not there in the view, or a command may have led elsewhere. */
export function requireFolder(cwd: string, { view: { everything, places }, notFollowed }: Pick<BuiltView, 'view' | 'notFollowed'>): void {
  const left = [...notFollowed].find(([path]) => isWithin(cwd, path));
  if (left !== undefined) {
    throw new ProcessStartError(
      `${cwd}: ${left[1]} is a symbolic link out of the workspace that a command can have made. Name the folder that it leads to instead.`,
    );
  }
  const real = realPath(cwd);
  const kind = real === null ? 'nothing' : nearestKind(real, places);
  if (kind === undefined ? everything : kind === 'read' || kind === 'write' || (real !== null && places.has(real))) return;
  throw new ProcessStartError(`${cwd}: this folder cannot be read in the sandbox`);
}

/** What the confining program may be started with, and what only the confined one may have. */
export function splitEnvironment(env: Readonly<Record<string, string>>): { kept: Record<string, string>; moved: [string, string][] } {
  const all = Object.entries(env);
  const moved = all.filter(([name]) => CHANGES_PROGRAMS.test(name));
  return { kept: Object.fromEntries(all.filter(([name]) => !CHANGES_PROGRAMS.test(name))), moved };
}
