import { type RpcError, refused } from '../rpc-error.ts';

/** For kinds of login other than an API key. */
export function loginNotSupported(type: string): RpcError {
  const advice = 'log in with an API key (type apiKey), or set env_key of the provider';
  return refused(
    'login_not_supported',
    `a login of type ${type} is not supported by this server: ${advice}`,
  );
}

export function invalidApiKey(): RpcError {
  return refused('invalid_api_key', 'apiKey must be a key without spaces, and not empty');
}

export function invalidLoginId(): RpcError {
  return refused('invalid_login_id', 'invalid login id: it is not a UUID');
}

/** `why` ends with what to do. */
export function loginFileUnusable(path: string, why: string): RpcError {
  return refused('login_file_unusable', `${path} cannot be used: ${why}`);
}

export function noRateLimits(): RpcError {
  const message =
    'no rate limits are known: the provider has not sent any yet. A ChatGPT login, which always has them, is not supported';
  return refused('no_rate_limits', message);
}
