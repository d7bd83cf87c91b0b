import { copiedSettings } from '../settings/kept-settings.ts';
import type { ResolvedThread } from './new-thread.ts';

/**
 * The settings and the configuration of a copy of a thread. The copy has instructions of its own,
 * since it may move to another folder. `knowsModes`: whether the client knows collaboration modes.
 */
export async function copiedThread(
  { settings: last, configuration }: ResolvedThread,
  request: { knowsModes: boolean },
): Promise<ResolvedThread> {
  const settings = copiedSettings(last, request);
  return {
    settings,
    configuration: {
      ...configuration,
      instructions: await configuration.instructions.at(settings),
    },
  };
}
