import type { Env } from '../base/env.ts';
import { variableNamesSecret } from './names-secret.ts';
import { longestFirst } from './redact.ts';
import { passwordsIn } from './redact-likely-secrets.ts';

/**
 * Values of environment variables whose names name a secret, and passwords in URLs of the others.
 * The longest comes first.
 */
export function knownSecrets(env: Env): string[] {
  const secrets = Object.entries(env).flatMap(([name, value = '']) =>
    variableNamesSecret(name) ? [value] : passwordsIn(value),
  );
  return longestFirst(secrets);
}
