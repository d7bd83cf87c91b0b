import { storeFileIn } from '../../base/files/own-file.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import {
  type NodeVersions,
  nativeBuildProblem,
} from '../../store/sqlite/connect/native-build-problem.ts';
import {
  type DatabaseState,
  databaseDamage,
} from '../../store/sqlite/maintenance/database-damage.ts';
import type { DoctorCheck, DoctorProblem } from './doctor-check.ts';

/**
 * Looks at the database of threads: whether this Node can open it, and whether it is damaged.
 * Changes nothing.
 */
export async function checkStore(home: string, versions: NodeVersions): Promise<DoctorCheck> {
  const file = storeFileIn(home);
  const bytes = statOf(file)?.size ?? null;
  const build = await nativeBuildProblem(versions);
  const problems: DoctorProblem[] =
    build === null
      ? []
      : [
          {
            severity: 'error',
            message: build,
            fix: 'Run npm rebuild better-sqlite3 with the Node that runs heddle.',
          },
        ];
  const looked = bytes === null ? null : await databaseDamage(file, versions);
  if (looked !== null) problems.push(...damageProblems(file, looked));
  const summary =
    looked === null ? 'no threads are stored yet' : `${file}, ${bytes} bytes, ${stateText(looked)}`;
  return {
    name: 'store',
    summary,
    facts: { file, bytes, node: versions.node, state: looked?.state ?? null },
    problems,
  };
}

function damageProblems(file: string, looked: DatabaseState): DoctorProblem[] {
  if (looked.state !== 'checked') {
    return looked.state === 'unchecked'
      ? []
      : [
          {
            severity: 'error',
            message: looked.why,
            fix: 'Follow the message, or move the file away.',
            file,
          },
        ];
  }
  const { findings } = looked;
  if (findings.length === 0) return [];
  const more = findings.length > 1 ? ` (and ${findings.length - 1} more findings)` : '';
  const message = `${file} is damaged: ${findings[0]}${more}`;
  return [
    {
      severity: 'error',
      message,
      fix: 'Run: heddle store repair. It keeps the damaged file.',
      file,
    },
  ];
}

function stateText(looked: DatabaseState): string {
  if (looked.state === 'checked') return looked.findings.length === 0 ? 'in order' : 'damaged';
  return looked.state === 'unchecked'
    ? `not checked for damage, because ${looked.why}`
    : 'cannot be used';
}
