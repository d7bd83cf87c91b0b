import { dirname } from 'node:path';
import type { JsonObject } from '../../base/json-value.ts';
import type { ConfigLayerSource } from '../../protocol/generated/types.ts';
import { type ProjectFile, projectFiles } from '../trust/project-files.ts';
import type { TrustedFiles } from '../trust/trusted-files.ts';
import { mergeTables } from './config-table.ts';
import { emptyLayer, type Layer, parseLayer } from './layer.ts';
import type { Toml } from './toml.ts';
import { withProjectSettings } from './with-project-settings.ts';

interface ProjectLayersDeps {
  toml: Toml;
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
 * that a project can set, and that are as strict as those of the user and of the outer folders. Throws a ConfigError if a trusted file is
 * invalid.
 */
export function projectLayers(
  { cwd, home, user }: { cwd: string; home: string; user: JsonObject },
  { toml, trustedFiles }: ProjectLayersDeps,
): Project {
  const files = projectFiles({ cwd, home, user }, trustedFiles);
  const layers: Layer[] = [];
  let below = user;
  for (const file of files.filter(({ kind }) => kind === 'settings')) {
    const layer = withProjectSettings(layerOf(file, toml), below);
    layers.push(layer);
    below = mergeTables(below, layer.config);
  }
  return { layers, roleFiles: files.filter(({ kind }) => kind === 'role'), hookFiles: files.filter(({ kind }) => kind === 'hooks') };
}

function layerOf(file: ProjectFile, toml: Toml): Layer {
  const name: ConfigLayerSource = { type: 'project', dotCodexFolder: dirname(file.path) };
  if (file.isInForce) return parseLayer(file.bytes, { file: file.path, name }, toml);
  return { ...emptyLayer(file.path, name), disabledReason: file.reason, warnsDisabled: file.isFolderTrusted };
}
