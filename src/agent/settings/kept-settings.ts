import type { ThreadSettings } from '../../store/thread-record.ts';
import { collaboration, embedded, withMode } from './resolve-settings.ts';

/**
 * The settings that a thread keeps when it is resumed from the store or forked. The approval and
 * sandbox policies are not kept, nor are the modes for a client that does not know modes
 * (`knowsModes`): it could not leave them.
 */
export function keptSettings(
  last: ThreadSettings,
  { knowsModes }: { knowsModes: boolean },
): Partial<ThreadSettings> {
  const {
    model,
    modelProvider,
    cwd,
    approvalsReviewer,
    effort,
    summary,
    personality,
    serviceTier,
    collaborationMode,
  } = last;
  const {
    baseInstructions,
    developerInstructions,
    permissionProfile,
    workspaceRoots,
    withoutProject,
    multiAgentMode,
  } = last;
  return {
    model,
    modelProvider,
    ...embedded(last),
    cwd,
    approvalsReviewer,
    effort,
    summary,
    personality,
    serviceTier,
    ...(knowsModes ? { collaborationMode, ...withMode(multiAgentMode) } : {}),
    baseInstructions,
    developerInstructions,
    ...(permissionProfile === undefined ? {} : { permissionProfile }),
    ...(workspaceRoots === undefined ? {} : { workspaceRoots }),
    ...(withoutProject && { withoutProject }),
  };
}

/**
 * The settings of a thread that a copy gets: all of them, except for the mode where `keptSettings`
 * does not keep it either.
 */
export function copiedSettings(
  settings: ThreadSettings,
  { knowsModes }: { knowsModes: boolean },
): ThreadSettings {
  const { model, effort } = settings;
  return knowsModes
    ? settings
    : {
        ...settings,
        collaborationMode: collaboration('default', { model, effort, instructions: null }),
      };
}
