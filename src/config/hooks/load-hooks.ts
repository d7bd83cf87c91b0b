import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { HOOKS_FILE, type HookSet, NO_HOOKS } from './hook-definition.ts';
import type { HookSources } from './hook-origins.ts';

/**
 * Reads the hooks of a working directory. Imports the code for it only if something defines hooks.
 */
export async function loadHooks(sources: HookSources): Promise<HookSet> {
  const { home, layers, files, mainLayers } = sources;
  const inLayers = [...layers, ...mainLayers.map(({ layer }) => layer)];
  const isDefined =
    files.length > 0 ||
    inLayers.some(({ config }) => config.hooks !== undefined) ||
    existsSync(join(home, HOOKS_FILE));
  if (!isDefined) return NO_HOOKS;
  const { readHooks } = await import('./read-hooks.ts');
  return readHooks(sources);
}
