import { dirname, join } from 'node:path';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { isObject, type JsonObject, parsedJson } from '../../base/json-value.ts';
import { KeyedQueue } from '../../base/keyed-queue.ts';
import { makeFolderSync } from '../../base/paths/make-folder.ts';
import { AUTH_FILE, LOGIN_BYTES_MAX } from '../../config/login/stored-login.ts';
import { removePath } from '../../files/remove-path.ts';
import { writeText } from '../../files/write-all.ts';
import { writeFile } from '../../files/write-file.ts';
import { loginFileUnusable } from '../../protocol/account-errors.ts';

/** The value of `auth_mode` for which other programs that share the home use the key. */
const API_KEY_MODE = 'apikey';

/**
 * Changes `auth.json` in the home, which other programs may share: only what belongs to the API key, and only the user may read it.
 * Writes of this server wait for each other.
 */
export class LoginWriter {
  readonly #path: string;
  readonly #queue = new KeyedQueue();

  constructor(home: string) {
    this.#path = join(home, AUTH_FILE);
  }

  /** Stores the key. Rejects with an RpcError if the file is not that of a login. */
  store(apiKey: string): Promise<void> {
    return this.#queue.run('login', async () => {
      const login = (await this.#read()) ?? {};
      await this.#write({ ...login, auth_mode: API_KEY_MODE, OPENAI_API_KEY: apiKey });
    });
  }

  /** Removes the key, and the file if nothing else is in it. Rejects with an RpcError if the file is not that of a login. */
  remove(): Promise<void> {
    return this.#queue.run('login', async () => {
      const login = await this.#read();
      if (login === null) return;
      const { OPENAI_API_KEY: _key, auth_mode: mode, ...others } = login;
      const isEmpty = Object.values(others).every((value) => value === null);
      if (isEmpty) await removePath(this.#path, { recursive: false, force: true });
      else await this.#write({ ...others, ...(mode === undefined || mode === API_KEY_MODE ? {} : { auth_mode: mode }) });
    });
  }

  async #read(): Promise<JsonObject | null> {
    const file = await readRegularFile(this.#path, { bytesMax: LOGIN_BYTES_MAX });
    if (file === null) return null;
    const value = parsedJson(file.bytes.toString('utf8'));
    if (!isObject(value)) throw loginFileUnusable(this.#path);
    return value as JsonObject;
  }

  async #write(login: JsonObject): Promise<void> {
    makeFolderSync(dirname(this.#path), 0o700);
    await writeFile(this.#path, (file) => writeText(file, `${JSON.stringify(login, null, 2)}\n`), 0o600);
  }
}
