import { dirname, join } from 'node:path';
import { FileRefusedError } from '../../base/files/file-refused-error.ts';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { isObject, type JsonObject, parsedJson } from '../../base/json-value.ts';
import { KeyedQueue } from '../../base/keyed-queue.ts';
import { makeFolderSync } from '../../base/paths/make-folder.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';
import { AUTH_FILE, LOGIN_BYTES_MAX } from '../../config/login/stored-login.ts';
import { removePath } from '../../files/remove-path.ts';
import { whyNotWritten } from '../../files/why-not-written.ts';
import { writeText } from '../../files/write-all.ts';
import { writeFile } from '../../files/write-file.ts';
import { loginFileUnusable } from '../../protocol/account-errors.ts';

/** The values of `auth_mode` for which other programs that share the home use the key, or the tokens. */
const API_KEY_MODE = 'apikey';
const TOKENS_MODE = 'chatgpt';

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

  /**
   * Stores the key. Rejects with an RpcError if the file is not that of a login, or cannot be read or written. Beside the tokens of
   * another login, other programs go on using that one.
   */
  store(apiKey: string): Promise<void> {
    return this.#queue.run('login', async () => {
      const { login, text } = await this.#read();
      const { auth_mode: mode, tokens } = login;
      const ofOthers = typeof mode === 'string' && mode !== API_KEY_MODE ? mode : TOKENS_MODE;
      await this.#write({ ...login, auth_mode: isObject(tokens) ? ofOthers : API_KEY_MODE, OPENAI_API_KEY: apiKey }, text);
    });
  }

  /** Removes the key, and the file if nothing else is in it. Rejects with an RpcError if the file is not that of a login. */
  remove(): Promise<void> {
    return this.#queue.run('login', async () => {
      const { login, text } = await this.#read();
      const { OPENAI_API_KEY: key = null, auth_mode: mode, ...others } = login;
      if (key === null) return;
      const isEmpty = Object.values(others).every((value) => value === null);
      if (isEmpty) await this.#attempt(() => removePath(this.#path, { recursive: false, force: true }));
      else await this.#write({ ...others, ...(mode === undefined || mode === API_KEY_MODE ? {} : { auth_mode: mode }) }, text);
    });
  }

  /** An empty login if there is no file. */
  async #read(): Promise<{ login: JsonObject; text: string | null }> {
    const file = await this.#attempt(
      () => readRegularFile(this.#path, { bytesMax: LOGIN_BYTES_MAX }),
      (error) => systemErrorCode(error) && `it cannot be read (${systemErrorCode(error)})`,
    );
    if (file === null) return { login: {}, text: null };
    const text = file.bytes.toString('utf8');
    const login = parsedJson(text);
    if (!isObject(login)) throw loginFileUnusable(this.#path, 'it is not a JSON object: correct it or remove it');
    return { login: login as JsonObject, text };
  }

  /** `before`: the old text. */
  async #write(login: JsonObject, before: string | null): Promise<void> {
    const text = `${JSON.stringify(login, null, 2)}\n`;
    await this.#attempt(async () => {
      makeFolderSync(dirname(this.#path), 0o700);
      await writeFile(this.#path, (file) => writeText(file, text), { mode: 0o600, before });
    });
  }

  async #attempt<T>(work: () => Promise<T>, reason: (error: unknown) => string | null = whyNotWritten): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const why = error instanceof FileRefusedError ? error.message : reason(error);
      if (why === null) throw error;
      throw loginFileUnusable(this.#path, `${why}. Correct that, or set the key in the environment instead`);
    }
  }
}
