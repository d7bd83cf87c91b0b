import type { Env } from '../../base/env.ts';
import type { DoctorCheck, DoctorProblem } from './doctor-check.ts';
import { programPath } from './program-path.ts';

/** Looks for git, which heddle itself does not start, but models do. */
export async function checkGit(cwd: string, env: Env): Promise<DoctorCheck> {
  const found = await programPath('git', { cwd, path: env.PATH });
  const path = typeof found === 'string' ? found : null;
  const problems: DoctorProblem[] =
    path === null
      ? [
          {
            severity: 'warning',
            message: 'git is not in the PATH, so commands of models cannot use it',
            fix: 'Install git.',
          },
        ]
      : [];
  return { name: 'git', summary: path ?? 'not found', facts: { path }, problems };
}
