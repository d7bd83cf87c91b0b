import { join } from 'node:path';
import { projectFolders } from '../../config/trust/project-folders.ts';

/**
 * The folders of a project that have skills. They are instructions, as AGENTS.md is: they start
 * nothing.
 */
export const PROJECT_SKILLS = [join('.codex', 'skills'), join('.agents', 'skills')];

/** A folder with skills. */
export interface SkillPlace {
  /** Absolute path. It need not exist. */
  folder: string;
  scope: 'user' | 'repo';
  /** The project's root: links are followed only inside of it. Null: everywhere. */
  root: string | null;
}

export interface SkillSources {
  /** The absolute path of heddle's home. */
  home: string;
  /** The absolute path of the user's home; null: unknown. */
  userHome: string | null;
  cwd: string;
  /** Further folders, which a client has named. Absolute paths. */
  extraRoots: readonly string[];
}

/**
 * The folders in which skills are looked for, from the least to the most specific: `skills` in the
 * home, `.agents/skills` in the user's home, those that a client has named, then `.codex/skills`
 * and `.agents/skills` in the project's folders, from its root down to the cwd.
 */
export function skillPlaces({ home, userHome, cwd, extraRoots }: SkillSources): SkillPlace[] {
  const { root, folders } = projectFolders(cwd);
  const ofUser = [
    join(home, 'skills'),
    ...(userHome === null ? [] : [join(userHome, '.agents', 'skills')]),
    ...extraRoots,
  ];
  const ofProject = folders.flatMap((folder) =>
    PROJECT_SKILLS.map((skills) => join(folder, skills)),
  );
  const isUsers = new Set(ofUser);
  return [
    ...[...isUsers].map((folder) => ({ folder, scope: 'user' as const, root: null })),
    ...ofProject
      .filter((folder) => !isUsers.has(folder))
      .map((folder) => ({ folder, scope: 'repo' as const, root })),
  ];
}
