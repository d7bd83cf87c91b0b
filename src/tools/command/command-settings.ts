import type { Config } from '../../config/config.ts';
import { type EnvironmentPolicy, environmentPolicy } from '../../config/environment-policy.ts';

/** What the configuration says of commands. */
export interface CommandSettings {
  /** Whether the model can run any. */
  enabled: boolean;
  environment: EnvironmentPolicy;
  limits: { loginShell: boolean; tokensMax: number; pollMsMax: number };
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
    },
  };
}
