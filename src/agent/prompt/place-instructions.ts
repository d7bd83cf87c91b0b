import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../config/config.ts';
import { type AgentsMd, readAgentsMd } from '../../instructions/agents-md.ts';
import { linksOut } from '../../instructions/links-out.ts';
import { findSkills, type Skill, type SkillError } from '../../instructions/skills/find-skills.ts';
import { skillSearch } from '../../instructions/skills/skill-search.ts';
import { hasBounds, sandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import { mayBeSeen } from '../../tools/may-read.ts';
import { sandboxFolders } from '../../tools/sandbox-folders.ts';

/**
 * The part of a thread's settings that decides which instructions and skills apply, and which files
 * may be read for them.
 */
export type Place = Pick<
  ThreadSettings,
  'cwd' | 'withoutProject' | 'sandboxPolicy' | 'workspaceRoots' | 'hidden'
>;

/** The instructions and skills that apply in a place. */
export interface PlaceInstructions {
  agentsMd: AgentsMd;
  /** Those that the user has not switched off. */
  skills: Skill[];
  /** The absolute paths of the folders of all skills, and of those in which skills are left out. */
  skillFolders: string[];
  /** The folders in which skills are left out, and why. */
  leftOutSkills: SkillError[];
  /** Absolute paths of links that lead out of the project. They are not followed. */
  leftOut: string[];
}

export function isSamePlace(one: Place, other: Place): boolean {
  return (
    one.cwd === other.cwd &&
    one.withoutProject === other.withoutProject &&
    hasBounds(one.sandboxPolicy) === hasBounds(other.sandboxPolicy) &&
    isDeepStrictEqual(one.hidden ?? null, other.hidden ?? null) &&
    isDeepStrictEqual(one.workspaceRoots ?? [], other.workspaceRoots ?? [])
  );
}

export async function readPlace(
  { config, extraRoots }: InstructionsDeps,
  place: Place,
): Promise<PlaceInstructions> {
  const { cwd, withoutProject } = place;
  const fallbackFileNames = config.get('project_doc_fallback_filenames');
  const mayBeRead = await mayBeSeen(
    sandboxBounds(place.sandboxPolicy, sandboxFolders(place, config)),
  );
  const agentsMd = readAgentsMd({
    home: config.home,
    cwd,
    projectBytesMax: withoutProject ? 0 : config.get('project_doc_max_bytes'),
    fallbackFileNames,
    mayBeRead,
  });
  const { skills, leftOut } = await findSkills({
    ...(await skillSearch(config, { cwd, extraRoots: extraRoots() })),
    mayBeRead,
  });
  return {
    agentsMd,
    skills: skills.filter(({ enabled, scope }) => enabled && !(withoutProject && scope === 'repo')),
    skillFolders: [...skills.map(({ path }) => dirname(path)), ...leftOut.map(({ path }) => path)],
    leftOutSkills: leftOut,
    leftOut: withoutProject ? [] : await linksOut(cwd, fallbackFileNames),
  };
}

export interface InstructionsDeps {
  config: Config;
  /** Further folders with skills, which a client has named. Absolute paths. */
  extraRoots: () => readonly string[];
}
