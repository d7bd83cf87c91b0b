import { accessSync, constants } from 'node:fs';
import { dirname, join } from 'node:path';
import { isFolder } from '../../base/paths/is-folder.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { AUTH_FILE } from '../../config/login/stored-login.ts';
import type { DoctorCheck, DoctorProblem } from './doctor-check.ts';

const OPEN_TO_OTHERS = 0o077;

/** Looks at the home: whether it exists, and can be written. */
export function checkHome(home: string, source: string): DoctorCheck {
  const exists = isFolder(home);
  const problems: DoctorProblem[] = [];
  const folder = exists ? home : existingAbove(home);
  if (!canWrite(folder))
    problems.push({
      severity: 'error',
      message: `${folder} cannot be written`,
      fix: `Make it writable, or set HEDDLE_HOME to another folder.`,
    });
  const path = join(home, AUTH_FILE);
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
    summary: `${home} (${source})${exists ? '' : ', which is made when it is needed'}`,
    facts: { path: home, source, exists },
    problems,
  };
}

function existingAbove(path: string): string {
  const above = dirname(path);
  return above === path || isFolder(above) ? above : existingAbove(above);
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isOpenToOthers(path: string): boolean {
  return ((statOf(path)?.mode ?? 0) & OPEN_TO_OTHERS) !== 0;
}
