import { dirname, join } from 'node:path';
import { FileRefusedError } from '../../base/files/file-refused-error.ts';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { isObject, type JsonObject, parsedJson } from '../../base/json-value.ts';
import { KeyedQueue } from '../../base/keyed-queue.ts';
import { makeFolderSync } from '../../base/paths/make-folder.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';
import { AUTH_FILE, LOGIN_BYTES_MAX } from '../../config/login/stored-login.ts';
import { locateFile, pathOf } from '../../files/file-location.ts';
import { removePath } from '../../files/remove-path.ts';
import { whyNotWritten } from '../../files/why-not-written.ts';
import { writeText } from '../../files/write-all.ts';
import { writeFile } from '../../files/write-file.ts';
import { loginFileUnusable } from '../../protocol/errors/account-errors.ts';

/**
 * The values of `auth_mode` for which other programs that share the home use the key, or the
 * tokens.
 */
const API_KEY_MODE = 'apikey';
const TOKENS_MODE = 'chatgpt';

/** The advice of a login that fails, and of a logout. */
const IN_ENVIRONMENT = 'set the key in the environment instead';
const BY_HAND = 'remove the key from the file by hand';

/**
 * Changes `auth.json` in the home, which other programs may share: only what belongs to the API
 * key, and only the user may read it. Writes of this server wait for each other.
 */
export class LoginWriter {
  readonly #path: string;
  readonly #queue = new KeyedQueue();

  constructor(home: string) {
    this.#path = join(home, AUTH_FILE);
  }

  /**
   * Stores the key. Rejects with an RpcError if the file is not that of a login, or cannot be read
   * or written. Beside the tokens of another login, other programs go on using that one.
   */
  store(apiKey: string): Promise<void> {
    return this.#queue.run('login', async () => {
      const { login, text } = await this.#read(IN_ENVIRONMENT);
      const { auth_mode: mode, tokens } = login;
      const ofOthers = typeof mode === 'string' && mode !== API_KEY_MODE ? mode : TOKENS_MODE;
      const changed = {
        ...login,
        auth_mode: isObject(tokens) ? ofOthers : API_KEY_MODE,
        OPENAI_API_KEY: apiKey,
      };
      await this.#write(changed, { before: text, advice: IN_ENVIRONMENT });
    });
  }

  /**
   * Removes the key, and the file if nothing else is in it. Rejects with an RpcError if the file is
   * not that of a login.
   */
  remove(): Promise<void> {
    return this.#queue.run('login', async () => {
      const { login, text } = await this.#read(BY_HAND);
      const { OPENAI_API_KEY: key = null, auth_mode: mode, ...others } = login;
      if (key === null) return;
      const isEmpty = Object.values(others).every((value) => value === null);
      if (isEmpty) await this.#attempt(() => this.#removeFile(), { advice: BY_HAND });
      else {
        const changed = {
          ...others,
          ...(mode === undefined || mode === API_KEY_MODE ? {} : { auth_mode: mode }),
        };
        await this.#write(changed, { before: text, advice: BY_HAND });
      }
    });
  }

  /** Removes the file behind the links: the key is there. */
  async #removeFile(): Promise<void> {
    await removePath(pathOf(await locateFile(this.#path)), { recursive: false, force: true });
  }

  /** An empty login if there is no file. */
  async #read(advice: string): Promise<{ login: JsonObject; text: string | null }> {
    const file = await this.#attempt(
      () => readRegularFile(this.#path, { bytesMax: LOGIN_BYTES_MAX }),
      {
        advice,
        reason: (error) =>
          systemErrorCode(error) && `it cannot be read (${systemErrorCode(error)})`,
      },
    );
    if (file === null) return { login: {}, text: null };
    const text = file.bytes.toString('utf8');
    const login = parsedJson(text);
    if (!isObject(login))
      throw loginFileUnusable(this.#path, 'it is not a JSON object: correct it or remove it');
    return { login: login as JsonObject, text };
  }

  /** `before`: the old text. */
  async #write(
    login: JsonObject,
    { before, advice }: { before: string | null; advice: string },
  ): Promise<void> {
    const text = `${JSON.stringify(login, null, 2)}\n`;
    const write = async () => {
      makeFolderSync(dirname(this.#path), 0o700);
      await writeFile(this.#path, (file) => writeText(file, text), { mode: 0o600, before });
    };
    await this.#attempt(write, { advice });
  }

  async #attempt<T>(
    work: () => Promise<T>,
    {
      advice,
      reason = whyNotWritten,
    }: { advice: string; reason?: (error: unknown) => string | null },
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const why = error instanceof FileRefusedError ? error.message : reason(error);
      if (why === null) throw error;
      throw loginFileUnusable(this.#path, `${why}. Correct that, or ${advice}`);
    }
  }
}
