import { dirname, isAbsolute, join } from 'node:path';
import type { Env } from '../../base/env.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { isFolder } from '../../base/paths/is-folder.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { HOOKS_FILE } from '../../config/hooks/hook-definition.ts';
import { PROJECT_HOOKS } from '../../config/trust/find-project-files.ts';
import { projectFolders } from '../../config/trust/project-folders.ts';

/** A file of another agent with servers, by keys. */
interface Servers {
  path: string;
  /** The object at the keys; null: there is none. Rejects with a SourceError. */
  read(keys: readonly string[]): Promise<JsonObject | null>;
}

/** The places of another agent's settings, and of heddle's. Absolute paths. */
export interface Scope {
  /** The root of the project. Null: the user's home folder. */
  cwd: string | null;
  /** The folder that all files of the other agent lie in: what is a link out of it is not read. */
  root: string;
  /**
   * The file of the other agent with the servers of all places. Null: the user's home folder is not
   * known.
   */
  state: Servers | null;
  agentsMd: { source: string; target: string };
  skills: { source: string; target: string };
  /** `isHome`: they are those of the user, which run without further consent. */
  hooks: { target: string; isHome: boolean };
  /** The other agent's own folder. */
  folder: string;
  /** The folder of the files with roles of sub-agents. */
  agents: { target: string };
}

interface Homes {
  /** heddle's home. */
  home: string;
  env: Env;
  state: Servers | null;
}

/** The scope of the user's home folder. Null: there is none. */
export function homeScope({ home, env, state }: Homes): Scope | null {
  const root = userHomeOf(env);
  if (root === null) return null;
  const folder = join(root, '.claude');
  return {
    cwd: null,
    root,
    state,
    folder,
    agentsMd: { source: join(folder, 'CLAUDE.md'), target: join(home, 'AGENTS.md') },
    skills: { source: join(folder, 'skills'), target: join(home, 'skills') },
    hooks: { target: join(home, HOOKS_FILE), isHome: true },
    agents: { target: join(home, 'agents') },
  };
}

/** The scope of the project that a folder is in. Null: there is no such folder. */
export function projectScope(cwd: string, { home, state }: Homes): Scope | null {
  if (!isAbsolute(cwd) || !isFolder(cwd)) return null;
  const { root } = projectFolders(cwd);
  const folder = join(root, '.claude');
  const hooks = join(root, PROJECT_HOOKS);
  // heddle's home can be the `.codex` of a folder.
  const isHome = realPathOrSame(dirname(hooks)) === realPathOrSame(home);
  return {
    cwd: root,
    root,
    state,
    folder,
    agentsMd: { source: join(root, 'CLAUDE.md'), target: join(root, 'AGENTS.md') },
    skills: { source: join(folder, 'skills'), target: join(root, '.agents', 'skills') },
    hooks: { target: isHome ? join(home, HOOKS_FILE) : hooks, isHome },
    agents: { target: join(dirname(hooks), 'agents') },
  };
}

/** The user's home folder. Null: it is not known. */
export function userHomeOf({ HOME: home }: Env): string | null {
  return home !== undefined && isAbsolute(home) ? realPathOrSame(home) : null;
}
