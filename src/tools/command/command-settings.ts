import type { Config } from '../../config/config.ts';
import { type EnvironmentPolicy, environmentPolicy } from '../../config/environment-policy.ts';
import { profileFiles } from '../../config/profile-files.ts';
import type { NetworkPolicy } from '../../policy/network/network-policy.ts';
import {
  managedNetworkRule,
  type NamedSandbox,
  unixSocketRule,
} from '../../policy/permissions/permission-profile.ts';
import type { CommandLimits } from './call/command-limits.ts';

/** The configuration of commands. */
export interface CommandSettings {
  /** Whether the model can run commands. */
  enabled: boolean;
  environment: EnvironmentPolicy;
  /** Whether commands get what the user's shell exports. */
  shellSnapshot: boolean;
  limits: CommandLimits;
  /** Whether commands in this sandbox may use unix sockets. */
  unixSockets(sandbox: NamedSandbox): boolean;
  /** How the network of commands in this sandbox is managed; null: it is not. */
  network(sandbox: NamedSandbox): NetworkPolicy | null;
  /** The folders below which protected names are not protected. */
  unprotected: readonly string[];
  /** The names of the files of profiles in the home, which no command may create. */
  profileFiles: readonly string[];
}

/** Throws a ConfigError if a setting is invalid. */
export function commandSettings(config: Config): CommandSettings {
  return {
    enabled: config.get('features.shell_tool'),
    environment: environmentPolicy(config),
    shellSnapshot: config.get('features.shell_snapshot'),
    limits: {
      loginShell: config.get('allow_login_shell'),
      tokensMax: config.get('tool_output_token_limit'),
      pollMsMax: config.get('background_terminal_max_timeout'),
      permissions: config.get('features.exec_permission_approvals'),
    },
    unixSockets: unixSocketRule(config),
    network: managedNetworkRule(config),
    unprotected: config.get('sandbox_workspace_write.unprotected_folders'),
    profileFiles: profileFiles(config),
  };
}
