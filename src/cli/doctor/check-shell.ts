import type { Env } from '../../base/env.ts';
import { isFile } from '../../base/paths/is-file.ts';
import type { Config } from '../../config/config.ts';
import { errorThrownBy } from '../../config/config-errors.ts';
import { programName } from '../../policy/parse/program-name.ts';
import { ownFiles } from '../../sandbox/server-programs/shell-start-files.ts';
import { userShell } from '../../tools/command/call/user-shell.ts';
import { type SnapshotServices, takeSnapshot } from '../../tools/command/snapshot/take-snapshot.ts';
import type { DoctorCheck, DoctorProblem } from './doctor-check.ts';

/**
 * Starts the user's shell like a server, and tells which start files it read, how long that took
 * and how many variables it exports.
 */
export async function checkShell(
  config: Config | null,
  deps: SnapshotServices,
): Promise<DoctorCheck> {
  const shell = userShell(deps.env);
  const why =
    config !== null && isOff(config)
      ? 'features.shell_snapshot is false'
      : deps.env.HOME
        ? null
        : 'HOME is not set';
  if (why !== null)
    return {
      name: 'shell',
      summary: `${shell}, not read: ${why}`,
      facts: { shell, isRead: false },
      problems: [],
    };
  const files = startFiles(shell, deps.env);
  const snapshot = await takeSnapshot(deps, new AbortController().signal);
  if ('problem' in snapshot) {
    const problem: DoctorProblem = {
      severity: 'warning',
      message: `commands do not get the variables that your shell exports: ${snapshot.problem}`,
      fix: 'Correct its start files, or set shell_snapshot = false in [features] of config.toml.',
    };
    return {
      name: 'shell',
      summary: `${shell}, not known`,
      facts: { shell, isRead: false, files },
      problems: [problem],
    };
  }
  const names = Object.keys(snapshot.variables).sort();
  const found = `${names.length} ${names.length === 1 ? 'variable' : 'variables'} in ${snapshot.ms} ms`;
  const summary = `${shell}, ${found}, from ${files.length === 0 ? 'no start files' : files.join(', ')}`;
  return {
    name: 'shell',
    summary,
    facts: { shell, isRead: true, files, milliseconds: snapshot.ms, variables: names },
    problems: [],
  };
}

/** An invalid value is a problem of the configuration. */
function isOff(config: Config): boolean {
  return (
    errorThrownBy(() => config.get('features.shell_snapshot')) === null &&
    !config.get('features.shell_snapshot')
  );
}

function startFiles(shell: string, env: Env): string[] {
  return ownFiles(programName(shell), { env, login: true, interactive: true }).filter(
    (path) => isFile(path) && !path.endsWith('logout'),
  );
}
