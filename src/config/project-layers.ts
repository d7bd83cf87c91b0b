import { dirname } from 'node:path';
import { inSlices } from '../base/in-slices.ts';
import type { JsonObject } from '../base/json-value.ts';
import type { ConfigLayerSource } from '../protocol/generated/types.ts';
import { emptyLayer, type Layer, parseLayer, type TomlReading } from './layers/layer.ts';
import { emptyTable, mergeTables } from './toml/config-table.ts';
import { judgeProjectFiles, type ProjectFile } from './trust/judge-project-files.ts';
import { type ProjectTrust, withTrustDefaults } from './trust/project-trust.ts';
import type { TrustRecordFile } from './trust/trust-record-file.ts';
import { withProjectSettings } from './with-project-settings.ts';

interface ProjectLayersDeps extends TomlReading {
  trustedFiles: TrustRecordFile;
}

interface Project {
  layers: Layer[];
  /** The files with roles of sub-agents. */
  roleFiles: ProjectFile[];
  /** The files with hooks. */
  hookFiles: ProjectFile[];
  /** The settings of a main checkout, whose hooks count in a folder of a linked worktree. */
  hookLayers: { layer: Layer; folder: string }[];
  trust: ProjectTrust;
}

/**
 * Returns the files with roles and with hooks, and a layer for the `.codex/config.toml` in each
 * folder from the project's root down to `cwd`, outermost first. A layer is disabled unless the
 * user trusts the folder and the content of the file. A layer has only the settings that a project
 * can set, and that are as strict as those of the user and of the outer folders. Rejects with a
 * ConfigError if a trusted file is invalid.
 */
export async function projectLayers(
  { cwd, home, user }: { cwd: string; home: string; user: JsonObject },
  { toml, trustedFiles, breaks }: ProjectLayersDeps,
): Promise<Project> {
  const { files, trust } = await judgeProjectFiles({ cwd, home, user }, trustedFiles, breaks);
  const layers: Layer[] = [];
  const hookLayers: Project['hookLayers'] = [];
  let below = withTrustDefaults(user, trust);
  for await (const file of inSlices(files, 1, breaks)) {
    if (file.kind === 'settings') {
      const layer = withProjectSettings(await layerOf(file, { toml, breaks }), below);
      layers.push(file.isLinked ? withoutHooks(layer) : layer);
      below = mergeTables(below, layer.config);
    } else if (file.kind === 'hookSettings') {
      hookLayers.push({ layer: await layerOf(file, { toml, breaks }), folder: file.folder });
    }
  }
  const ofKind = (kind: ProjectFile['kind']) => files.filter((file) => file.kind === kind);
  return { layers, roleFiles: ofKind('role'), hookFiles: ofKind('hooks'), hookLayers, trust };
}

function withoutHooks(layer: Layer): Layer {
  const { hooks: _, ...config } = layer.config;
  return { ...layer, config: Object.assign(emptyTable(), config) };
}

async function layerOf(file: ProjectFile, reading: TomlReading): Promise<Layer> {
  const name: ConfigLayerSource = { type: 'project', dotCodexFolder: dirname(file.path) };
  if (file.isInForce) return parseLayer(file.bytes, { file: file.path, name }, reading);
  return {
    ...emptyLayer(file.path, name),
    disabledReason: file.reason,
    warnsDisabled: file.isFolderTrusted,
  };
}
