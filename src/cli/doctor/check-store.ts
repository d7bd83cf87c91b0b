import { join } from 'node:path';
import { statOf } from '../../base/paths/stat-of.ts';
import { type NodeVersions, nativeBuildProblem } from '../../store/sqlite/connect/native-build-problem.ts';
import type { DoctorCheck, DoctorProblem } from './doctor-check.ts';

/** Looks at the database of threads, and whether this Node can open it. Does not open it. */
export async function checkStore(home: string, versions: NodeVersions): Promise<DoctorCheck> {
  const file = join(home, 'heddle.db');
  const size = statOf(file)?.size ?? null;
  const problem = await nativeBuildProblem(versions);
  const problems: DoctorProblem[] =
    problem === null
      ? []
      : [{ severity: 'error', message: problem, fix: 'Run npm rebuild better-sqlite3 with the Node that runs heddle.' }];
  const summary = size === null ? 'no threads are stored yet' : `${file}, ${size} bytes; heddle store check looks for damage`;
  return { name: 'store', summary, facts: { file, bytes: size, node: versions.node }, problems };
}
