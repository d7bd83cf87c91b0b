import { join } from 'node:path';
import { readRegularFileSync } from '../../base/files/read-regular-file.ts';
import { isObject, parsedJson } from '../../base/json-value.ts';

/** The login that is stored in the home. */
export interface StoredLogin {
  /** The API key; null: there is none. */
  apiKey: string | null;
  /** Whether it has the tokens of a ChatGPT login, which heddle cannot use. */
  hasChatgptLogin: boolean;
  /** Why the file cannot be read, with its path and what to do. Null: it can, or there is none. */
  problem: string | null;
}

/** The name of the file in the home. Other agents that share the home write it too. */
export const AUTH_FILE = 'auth.json';

/** A larger file is not read. */
export const LOGIN_BYTES_MAX = 256 * 1024;
/** There is no login. */
export const NO_LOGIN: StoredLogin = { apiKey: null, hasChatgptLogin: false, problem: null };

/** Reads `auth.json` in the home. Never throws. The messages never have a part of the file. */
export function readStoredLogin(home: string): StoredLogin {
  const path = join(home, AUTH_FILE);
  try {
    const file = readRegularFileSync(path, { bytesMax: LOGIN_BYTES_MAX });
    if (file === null) return NO_LOGIN;
    const value = parsedJson(file.bytes.toString('utf8'));
    if (!isObject(value))
      return {
        ...NO_LOGIN,
        problem: `${path} is not a JSON object, so the API key in it is not used: correct it or remove it`,
      };
    const { OPENAI_API_KEY: key, tokens } = value;
    if (key !== undefined && key !== null && typeof key !== 'string') {
      return {
        ...NO_LOGIN,
        problem: `${path}: OPENAI_API_KEY is not a string, so it is not used: correct it or remove it`,
      };
    }
    return { apiKey: key?.trim() || null, hasChatgptLogin: isObject(tokens), problem: null };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      ...NO_LOGIN,
      problem: `${path} cannot be read, so the API key in it is not used: ${reason}`,
    };
  }
}

/**
 * Says, as sentences after a space, why the login has no key; empty: it has one, or there is no
 * login.
 */
export function loginAdvice({ problem, hasChatgptLogin, apiKey }: StoredLogin): string {
  if (problem !== null) return ` ${problem}.`;
  return hasChatgptLogin && apiKey === null
    ? ' auth.json in the home has a ChatGPT login, which heddle does not support.'
    : '';
}
