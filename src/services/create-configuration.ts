import type { JsonObject } from '../base/json-value.ts';
import type { Config } from '../config/config.ts';
import type { Configuration } from '../config/configuration.ts';
import { configuredSecrets } from '../config/configured-secrets.ts';
import { type ConfigSources, loadConfig } from '../config/load-config.ts';
import { TrustRecordFile } from '../config/trust/trust-record-file.ts';
import { editInWorker } from '../config/writing/edit-in-worker.ts';
import type { EditToml } from '../config/writing/toml-edit.ts';
import { ConfigWriter } from '../handlers/config-writing/config-writer.ts';
import { LoginWriter } from '../handlers/config-writing/login-writer.ts';
import { SkillFolders } from '../instructions/skills/skill-folders.ts';
import { policyReads } from '../policy/policy-reads.ts';
import type { AppParts } from './app-parts.ts';
import { isModelGiven } from './create-providers.ts';
import type { Front } from './front.ts';

/**
 * The configuration, which is read anew for each thread, and what changes it. `loginSecrets`: those
 * of the logins to MCP servers.
 */
export function createConfiguration(
  options: AppParts,
  { clients, clock, log, workerScript }: Front,
  loginSecrets: () => readonly string[],
) {
  const { home, cwd, env, overrides = [], recordsTrust = true, systemDir = null } = options;
  const trustedFiles = new TrustRecordFile({ home, writes: recordsTrust });
  const modelGiven = isModelGiven(options.model);
  const sources = { home, cwd, env, overrides, trustedFiles, modelGiven, features: {}, systemDir };
  const config = async (
    folder: string | null = null,
    request: JsonObject | null = null,
  ): Promise<Config> => {
    const loaded = await loadConfig({ ...sources, cwd: folder ?? cwd, request });
    options.tap?.hide?.([...configuredSecrets(loaded), ...loginSecrets()]);
    return loaded;
  };
  const onChange = () => clients.publish('everyone', 'skills/changed', {});
  const skillFolders = new SkillFolders({ clock, log, home, env, config, onChange });
  const changes = { ...configChanges(workerScript, sources), loginWriter: new LoginWriter(home) };
  const configuration: Configuration = {
    load: config,
    extraSkillRoots: () => skillFolders.extraRoots,
  };
  return { configuration, sources, config, skillFolders, changes };
}

/** The services that read and change the user's settings. */
export type ConfigurationServices = ReturnType<typeof createConfiguration>;

/** The parts with which clients change the configuration. */
function configChanges(
  workerScript: string | null,
  sources: ConfigSources & { features: Record<string, boolean> },
) {
  // Providers are validated too, even if this server does not use them.
  const configWith = (userText: string) => {
    // A trial must not record that the user trusts a project.
    const trustedFiles = new TrustRecordFile({ home: sources.home, writes: false });
    return loadConfig({ ...sources, userText, modelGiven: false, trustedFiles });
  };
  const configWriter = new ConfigWriter({
    home: sources.home,
    editToml: workerScript === null ? editHere : editInWorker(workerScript),
    configWith,
    further: policyReads,
  });
  return { switched: sources.features, configWriter };
}

/** The editor is loaded at its first use. */
const editHere: EditToml = async (text, edits) => {
  const { editToml } = await import('../config/writing/edit-toml.ts');
  return editToml(text, edits);
};
