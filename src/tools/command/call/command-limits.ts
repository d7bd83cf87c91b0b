/** The limits that the configuration sets for calls of the model. */
export interface CommandLimits {
  /** Whether commands may run in a login shell, which reads the user's profile. */
  loginShell: boolean;
  /** The most tokens of a command's output that one call may return. */
  tokensMax: number;
  /** The longest time that one call may wait for a command in the background. */
  pollMsMax: number;
  /** Whether the model may ask for permissions for a single command. */
  permissions: boolean;
}

/** The most tokens of output that the model reads if its call sets no limit. */
export const OUTPUT_TOKENS_DEFAULT = 2500;
