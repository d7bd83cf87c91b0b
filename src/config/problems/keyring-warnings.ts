import type { Config } from '../config.ts';
import { errorThrownBy } from '../config-errors.ts';
import { AUTH_FILE } from '../login/stored-login.ts';
import { MCP_LOGIN_STORE } from '../mcp/mcp-settings.ts';
import { chooseProvider } from '../providers/choose-provider.ts';
import type { LocatedWarning } from '../toml/config-error.ts';

const LOGIN_AGAIN =
  'Log in once more with account/login/start and an API key, or set OPENAI_API_KEY in the environment.';
const MCP_LOGIN_AGAIN = 'Log in to each server once more with mcpServer/oauth/login.';

/**
 * Returns a warning for each setting that says that logins are not in a file, where heddle keeps
 * them: another program may have stored some that heddle does not find.
 */
export function keyringWarnings(config: Config): LocatedWarning[] {
  return [...ofApiKey(config), ...ofMcpLogins(config)];
}

function ofMcpLogins(config: Config): LocatedWarning[] {
  const path = ['mcp_oauth_credentials_store'];
  if (
    errorThrownBy(() => config.read(path, MCP_LOGIN_STORE)) !== null ||
    config.read(path, MCP_LOGIN_STORE) !== 'keyring'
  )
    return [];
  const problem =
    'heddle keeps the logins to MCP servers in a file in the home, which only you can read, and does not look for them elsewhere';
  const { message: summary, location } = config.error(path, `"keyring" has no effect: ${problem}`);
  return [{ summary, details: MCP_LOGIN_AGAIN, location }];
}

function ofApiKey(config: Config): LocatedWarning[] {
  if (errorThrownBy(() => config.get('cli_auth_credentials_store')) !== null) return [];
  const store = config.get('cli_auth_credentials_store');
  // `auto` may mean the file.
  if (store === 'file' || (store === 'auto' && !lacksKey(config))) return [];
  const problem = `heddle keeps the API key in ${AUTH_FILE} in the home, which only you can read, and does not look for it elsewhere`;
  const { message: summary, location } = config.error(
    ['cli_auth_credentials_store'],
    `${JSON.stringify(store)} has no effect: ${problem}`,
  );
  return [{ summary, details: LOGIN_AGAIN, location }];
}

/** Whether the embedded model answers because no key was found. */
function lacksKey(config: Config): boolean {
  return (
    errorThrownBy(() => chooseProvider(config, null)) === null &&
    chooseProvider(config, null).embeddedDefault
  );
}
