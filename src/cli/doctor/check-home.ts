import { accessSync, constants } from 'node:fs';
import { dirname, join } from 'node:path';
import { isFolder } from '../../base/paths/is-folder.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { foundCodexHome } from '../../config/login/codex-home.ts';
import { AUTH_FILE } from '../../config/login/stored-login.ts';
import type { DoctorCheck, DoctorProblem } from './doctor-check.ts';

const OPEN_TO_OTHERS = 0o077;

/** The files and folders of the home that heddle changes. */
const CHANGED = ['config.toml', 'heddle.db', 'heddle-writers'];

interface HomeDeps {
  /** The variable that names the home, or the default. */
  source: string;
  /** Null: unknown. */
  userHome: string | null;
}

/**
 * Looks at the home: whether it exists, can be read and written, and is the one that the user may
 * expect.
 */
export function checkHome(home: string, { source, userHome }: HomeDeps): DoctorCheck {
  const exists = isFolder(home);
  const path = join(home, AUTH_FILE);
  const problems = [...placeProblems(home, exists), ...otherHome(home, { source, userHome })];
  if (isOpenToOthers(path)) {
    problems.push({
      severity: 'warning',
      message: `other users of this machine can read ${path}`,
      fix: `Run: chmod 600 ${path}`,
      file: path,
    });
  }
  return {
    name: 'home',
    summary: `${home} (${source})${exists || problems.length > 0 ? '' : ', which is made when it is needed'}`,
    facts: { path: home, source, exists },
    problems,
  };
}

/** Whether this is a folder in which files can be made. */
export function isWritableFolder(path: string): boolean {
  return isFolder(path) && may(path, constants.W_OK | constants.X_OK);
}

function placeProblems(home: string, exists: boolean): DoctorProblem[] {
  const other = 'set HEDDLE_HOME to another folder';
  const above = exists ? home : existingAbove(home);
  const [taken] = exists ? [] : pathsBetween(home, above).filter((path) => statOf(path) !== null);
  if (taken !== undefined) {
    const isLink = statOf(taken)?.isSymbolicLink() === true;
    const message = `${taken} is ${isLink ? 'a link that leads to no folder' : 'a file, not a folder'}`;
    return [{ severity: 'error', message, fix: `Move it away, or ${other}.`, file: taken }];
  }
  if (exists && !may(home, constants.R_OK | constants.X_OK)) {
    return [
      {
        severity: 'error',
        message: `${home} cannot be read`,
        fix: `Make it readable, or ${other}.`,
      },
    ];
  }
  const paths = exists
    ? [home, ...CHANGED.map((name) => join(home, name)).filter((path) => statOf(path) !== null)]
    : [above];
  const [locked] = paths.filter((path) => !may(path, constants.W_OK));
  if (locked === undefined) return [];
  return [
    {
      severity: 'error',
      message: `${locked} cannot be written`,
      fix: `Make it writable, or ${other}.`,
    },
  ];
}

/** The home of another program with the same files is easily taken for heddle's. */
function otherHome(home: string, { source, userHome }: HomeDeps): DoctorProblem[] {
  if (userHome === null || HOME_VARIABLES.includes(source)) return [];
  const other = foundCodexHome(userHome);
  if (other === null || other === home) return [];
  const message = `heddle does not use ${other}, which is there, because CODEX_HOME is not set`;
  return [
    {
      severity: 'warning',
      message,
      fix: `To use it, set CODEX_HOME=${other}. docs/coming-from-codex.md says what heddle does with it.`,
    },
  ];
}

const HOME_VARIABLES: readonly string[] = ['HEDDLE_HOME', 'CODEX_HOME'];

/** The path, and the folders above it up to the one that exists, outermost first. */
function pathsBetween(path: string, existing: string): string[] {
  return path === existing ? [] : [...pathsBetween(dirname(path), existing), path];
}

function existingAbove(path: string): string {
  const above = dirname(path);
  return above === path || isFolder(above) ? above : existingAbove(above);
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function isOpenToOthers(path: string): boolean {
  return ((statOf(path)?.mode ?? 0) & OPEN_TO_OTHERS) !== 0;
}
