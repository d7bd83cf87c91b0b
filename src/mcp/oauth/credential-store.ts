import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { readRegularFileSync } from '../../base/files/read-regular-file.ts';
import { withLockFile } from '../../base/files/with-lock-file.ts';
import { isObject, type JsonObject, parsedJson, walkJson } from '../../base/json-value.ts';
import { KeyedQueue } from '../../base/keyed-queue.ts';
import { makeFolderSync } from '../../base/paths/make-folder.ts';
import { writeText } from '../../files/write-all.ts';
import { writeFile } from '../../files/write-file.ts';
import type { CredentialsChange, StoredCredentials } from '../messages/mcp-host.ts';

/**
 * The file in the home. Only its owner may read it, and commands never see it: its name says so
 * (`protect-home.ts`).
 */
const FILE = 'heddle-mcp.credentials.json';
const MODE = 0o600;
const BYTES_MAX = 4 * 1024 * 1024;
/** The longest entry of a server. Authorization servers decide how long their tokens are. */
const ENTRY_BYTES_MAX = 64 * 1024;

/** A server whose logins are kept: a login belongs to a name and an address. */
export interface LoginServer {
  name: string;
  url: string;
}

const NONE: StoredCredentials = { tokens: null, expiresAtMs: null, clients: {}, discovery: null };

/**
 * The logins to MCP servers, in a file of the home. It is read anew each time, because other
 * processes may have refreshed a token. Processes change it one after another.
 */
export class CredentialStore {
  readonly #home: string;
  readonly #clock: Clock;
  readonly #hide: (secrets: readonly string[]) => void;
  readonly #queue = new KeyedQueue();

  /** `home`: absolute. `hide` gets the tokens and secrets of all logins before they are stored. */
  constructor(home: string, clock: Clock, hide: (secrets: readonly string[]) => void = () => {}) {
    this.#home = home;
    this.#clock = clock;
    this.#hide = hide;
  }

  /** Throws if the file cannot be read. */
  read(server: LoginServer): StoredCredentials {
    return credentialsIn(this.#all()[keyOf(server)]);
  }

  /** Whether there is a token for this server. */
  hasLogin(server: LoginServer): boolean {
    try {
      return this.read(server).tokens !== null;
    } catch {
      return false;
    }
  }

  /** The tokens and secrets of all logins. Empty if the file cannot be read. */
  secrets(): string[] {
    try {
      return secretsIn(this.#all());
    } catch {
      return [];
    }
  }

  /**
   * Stores what `change` makes of the present state; null: nothing. Rejects if that is too long or
   * the file cannot be written.
   */
  change(
    server: LoginServer,
    change: (now: StoredCredentials) => CredentialsChange | null,
  ): Promise<void> {
    return this.#write((all) => {
      const now = credentialsIn(all[keyOf(server)]);
      const changes = change(now);
      if (changes === null) return null;
      const { tokens } = changes;
      const ends = tokens === undefined ? {} : { expiresAtMs: this.#endOf(tokens) };
      const entry = { ...now, ...changes, ...ends };
      if (Buffer.byteLength(JSON.stringify(entry)) > ENTRY_BYTES_MAX) {
        const limit = `${ENTRY_BYTES_MAX / 1024} KiB`;
        throw new Error(
          `the login to ${server.name} cannot be stored: the response of its authorization server is longer than ${limit}`,
        );
      }
      return { ...all, [keyOf(server)]: entry as unknown as JsonObject };
    });
  }

  /** Removes the login. Resolves with whether there was one. */
  async remove(server: LoginServer): Promise<boolean> {
    const had = this.hasLogin(server);
    await this.#write((all) =>
      Object.fromEntries(Object.entries(all).filter(([key]) => key !== keyOf(server))),
    );
    return had;
  }

  /**
   * Runs a task while no other one runs for this server, also of other processes. It must end
   * within a minute.
   */
  alone<T>(server: LoginServer, task: () => Promise<T>): Promise<T> {
    const name = createHash('sha256').update(keyOf(server)).digest('hex').slice(0, 16);
    return this.#locked(`heddle-mcp-${name}.lock`, task);
  }

  #write(change: (all: JsonObject) => JsonObject | null): Promise<void> {
    return this.#locked('heddle-mcp.lock', async () => {
      const changed = change(this.#all());
      if (changed === null) return;
      this.#hide(secretsIn(changed));
      const text = `${JSON.stringify(changed, null, 1)}\n`;
      const path = join(this.#home, FILE);
      if (Buffer.byteLength(text) > BYTES_MAX)
        throw new Error(
          `${path} would be longer than ${BYTES_MAX / 1024 / 1024} MiB: log out of servers`,
        );
      await writeFile(path, (file) => writeText(file, text), { mode: MODE });
    });
  }

  /** `name`: of the lock file in the home. */
  #locked<T>(name: string, task: () => Promise<T>): Promise<T> {
    return this.#queue.run(name, () => {
      makeFolderSync(this.#home);
      return withLockFile(join(this.#home, name), this.#clock, task);
    });
  }

  #endOf(tokens: JsonObject | null): number | null {
    const seconds = tokens?.expires_in;
    return typeof seconds === 'number' ? this.#clock.now() + seconds * 1000 : null;
  }

  #all(): JsonObject {
    const text = readRegularFileSync(join(this.#home, FILE), {
      bytesMax: BYTES_MAX,
    })?.bytes.toString('utf8');
    const all = text === undefined ? {} : parsedJson(text);
    if (!isObject(all))
      throw new Error(
        `${join(this.#home, FILE)} is not a JSON object: correct or remove it, and log in again`,
      );
    return all as JsonObject;
  }
}

function credentialsIn(entry: unknown): StoredCredentials {
  if (!isObject(entry)) return NONE;
  const { tokens, expiresAtMs, clients, discovery } = entry as JsonObject;
  return {
    tokens: isObject(tokens) ? (tokens as JsonObject) : null,
    expiresAtMs: typeof expiresAtMs === 'number' ? expiresAtMs : null,
    clients: isObject(clients) ? (clients as Record<string, JsonObject>) : {},
    discovery: isObject(discovery) ? (discovery as JsonObject) : null,
  };
}

function keyOf({ name, url }: LoginServer): string {
  return `${name} ${url}`;
}

/** The strings at names such as `access_token` and `client_secret`. */
function secretsIn(value: unknown): string[] {
  const found: string[] = [];
  walkJson(value, (part, key) => {
    if (typeof part === 'string' && key !== null && /(?:_token|secret)$/.test(key))
      found.push(part);
    return isObject(part);
  });
  return found;
}
