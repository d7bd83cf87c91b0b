import type { Config } from '../../config/config.ts';
import { findSkills } from '../../instructions/skills/find-skills.ts';
import { skillSearch } from '../../instructions/skills/skill-search.ts';
import type { DoctorCheck, DoctorProblem } from './doctor-check.ts';

const FRONT_MATTER =
  'Begin the file with a line of ---, then name: and description:, then another line of ---.';

interface SkillDeps {
  home: string;
  cwd: string;
  userHome: string | null;
}

/**
 * Reads the skills that a thread in this folder would have. Without a configuration, none is
 * switched off.
 */
export async function checkSkills(
  config: Config | null,
  { home, cwd, userHome }: SkillDeps,
): Promise<DoctorCheck> {
  const where = { cwd, extraRoots: [] };
  const search =
    config === null ? { ...where, home, userHome, switches: [] } : await skillSearch(config, where);
  const { skills, errors, leftOut } = await findSkills(search);
  const unusable = errors.map(
    ({ path, message }): DoctorProblem => ({
      severity: 'warning',
      message: `the skill ${path} cannot be used: ${message}`,
      fix: message.includes('front matter') ? FRONT_MATTER : 'Correct the file, or move it away.',
      file: path,
    }),
  );
  const unread = leftOut.map(
    ({ path, message }): DoctorProblem => ({
      severity: 'warning',
      message: `${path}: ${message}`,
      fix: 'Remove skills or other files from this folder.',
      file: path,
    }),
  );
  const names = skills.map(({ name, enabled }) => (enabled ? name : `${name} (switched off)`));
  const facts = { skills: skills.map(({ name, path, enabled }) => ({ name, path, enabled })) };
  return {
    name: 'skills',
    summary: names.length === 0 ? 'none' : names.join(', '),
    facts,
    problems: [...unusable, ...unread],
  };
}
