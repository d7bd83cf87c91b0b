import type { Config } from '../config.ts';
import type { ConfigError } from '../config-error.ts';
import { errorOf } from '../config-errors.ts';
import { chooseProvider } from '../providers/choose-provider.ts';
import { AUTH_FILE } from './stored-login.ts';

/**
 * Returns an error if `cli_auth_credentials_store` says that the login is not in the file, where heddle keeps it: another program may
 * have stored a key that heddle does not find.
 */
export function keyringWarnings(config: Config): ConfigError[] {
  if (errorOf(() => config.get('cli_auth_credentials_store')) !== null) return [];
  const store = config.get('cli_auth_credentials_store');
  // `auto` may mean the file.
  if (store === 'file' || (store === 'auto' && !lacksKey(config))) return [];
  const problem = `heddle keeps the API key in ${AUTH_FILE} in the home, which only you can read, and does not look for it elsewhere`;
  return [config.error(['cli_auth_credentials_store'], `${JSON.stringify(store)} has no effect: ${problem}`)];
}

/** Whether the embedded model answers because no key was found. */
function lacksKey(config: Config): boolean {
  return errorOf(() => chooseProvider(config, null)) === null && chooseProvider(config, null).embeddedDefault;
}
