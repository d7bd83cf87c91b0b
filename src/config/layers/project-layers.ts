import { dirname } from 'node:path';
import type { JsonObject } from '../../base/json-value.ts';
import type { ConfigLayerSource } from '../../protocol/generated/types.ts';
import { type ProjectFile, projectFiles } from '../trust/project-files.ts';
import type { TrustedFiles } from '../trust/trusted-files.ts';
import { mergeTables } from './config-table.ts';
import { emptyLayer, type Layer, parseLayer, type TomlReading } from './layer.ts';
import { withProjectSettings } from './with-project-settings.ts';

interface ProjectLayersDeps extends TomlReading {
  trustedFiles: TrustedFiles;
}

interface Project {
  layers: Layer[];
  /** The files with roles of agents. */
  roleFiles: ProjectFile[];
  /** The files with hooks. */
  hookFiles: ProjectFile[];
}

/**
 * Returns the files with roles and with hooks, and a layer for the `.codex/config.toml` in each folder from the project's root down to
 * `cwd`, outermost first. A layer is disabled unless the user trusts the folder and the content of the file. A layer has only the settings
 * that a project can set, and that are as strict as those of the user and of the outer folders. Rejects with a ConfigError if a trusted file
 * is invalid.
 */
export async function projectLayers(
  { cwd, home, user }: { cwd: string; home: string; user: JsonObject },
  { toml, trustedFiles, breaks }: ProjectLayersDeps,
): Promise<Project> {
  const files = await projectFiles({ cwd, home, user }, trustedFiles, breaks);
  await breaks.worked(1);
  const layers: Layer[] = [];
  let below = user;
  for (const file of files.filter(({ kind }) => kind === 'settings')) {
    const layer = withProjectSettings(await layerOf(file, { toml, breaks }), below);
    layers.push(layer);
    below = mergeTables(below, layer.config);
    await breaks.worked(1);
  }
  return { layers, roleFiles: files.filter(({ kind }) => kind === 'role'), hookFiles: files.filter(({ kind }) => kind === 'hooks') };
}

async function layerOf(file: ProjectFile, reading: TomlReading): Promise<Layer> {
  const name: ConfigLayerSource = { type: 'project', dotCodexFolder: dirname(file.path) };
  if (file.isInForce) return parseLayer(file.bytes, { file: file.path, name }, reading);
  return { ...emptyLayer(file.path, name), disabledReason: file.reason, warnsDisabled: file.isFolderTrusted };
}
