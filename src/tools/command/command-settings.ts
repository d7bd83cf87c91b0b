import type { Config } from '../../config/config.ts';
import { type EnvironmentPolicy, environmentPolicy } from '../../config/environment-policy.ts';

/** What the configuration lets the model ask for. */
export interface CommandLimits {
  /** Whether commands may read the user's profile. */
  loginShell: boolean;
  /** The most of a command's output that the model may read at once. */
  tokensMax: number;
  /** How long it may wait for a command in the background. */
  pollMsMax: number;
  /** Whether it may ask for permissions for one command. */
  permissions: boolean;
}

/** What the configuration says of commands. */
export interface CommandSettings {
  /** Whether the model can run any. */
  enabled: boolean;
  environment: EnvironmentPolicy;
  limits: CommandLimits;
}

/** Throws a ConfigError where a setting is bad. */
export function commandSettings(config: Config): CommandSettings {
  return {
    enabled: config.get('features.shell_tool'),
    environment: environmentPolicy(config),
    limits: {
      loginShell: config.get('allow_login_shell'),
      tokensMax: config.get('tool_output_token_limit'),
      pollMsMax: config.get('background_terminal_max_timeout'),
      permissions: config.get('features.exec_permission_approvals'),
    },
  };
}
