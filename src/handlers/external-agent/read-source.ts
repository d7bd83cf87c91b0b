import { join } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { type FolderEntries, listFolder } from '../../base/files/list-folder.ts';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { isObject, type JsonObject } from '../../base/json-value.ts';
import { Once } from '../../base/loading/once.ts';
import { parseJson } from '../../base/parse-long-json.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { decodeUtf8 } from '../../base/text/decode-utf8.ts';
import { NO_LOCATION } from '../../config/toml/config-error.ts';
import { toTable } from '../../config/toml/config-table.ts';
import { SourceError } from './found.ts';

const SOURCE_BYTES_MAX = 8 * 1024 * 1024;
/** The largest JSON that is taken, so that no step with it takes long. */
const JSON_BYTES_MAX = 256 * 1024;
/** `.claude.json` in the home folder also has the states of projects, of which nothing is taken. */
const STATE_BYTES_MAX = 8 * 1024 * 1024;

/**
 * The text of a file of another agent; null: there is none. `root`: the file must lie in it.
 * Rejects with a SourceError.
 */
export async function readSource(
  path: string,
  root: string,
  bytesMax = SOURCE_BYTES_MAX,
): Promise<string | null> {
  const real = realPathOrSame(root);
  try {
    const file = await readRegularFile(path, {
      bytesMax,
      mayLieAt: (found) => isBelow(found, real),
    });
    const text = file === null ? null : await decodeUtf8(file.bytes, new EventLoopYield());
    if (file !== null && text === null) throw new Error('it is not UTF-8 text');
    return text;
  } catch (error) {
    throw new SourceError(
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/**
 * Lists at most so many entries of a folder of another agent. Rejects with a SourceError if it
 * cannot be listed.
 */
export async function listSource(folder: string, entriesMax: number): Promise<FolderEntries> {
  try {
    return await listFolder(folder, entriesMax);
  } catch (error) {
    throw new SourceError(
      `${folder} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/**
 * The JSON object in a file of another agent, or the one at `keys` in it, as `readSource`; null:
 * there is no file, or nothing at the keys. The error does not quote the text: it may have secrets.
 */
export async function readSourceJson(
  path: string,
  root: string,
  keys: readonly string[] = [],
): Promise<JsonObject | null> {
  return partOf(await readObject(path, root, JSON_BYTES_MAX), path, keys);
}

/**
 * `.claude.json` in the home folder, which has servers of many places. It is large, so it is read
 * once for all that need it.
 */
export class StateFile {
  readonly path: string;
  readonly #whole: Once<Record<string, unknown> | null>;

  constructor(userHome: string) {
    this.path = join(userHome, '.claude.json');
    this.#whole = new Once(() => readObject(this.path, userHome, STATE_BYTES_MAX));
  }

  /** The object at the keys, as `readSourceJson`. */
  async read(keys: readonly string[]): Promise<JsonObject | null> {
    return partOf(await this.#whole.get(), this.path, keys);
  }
}

async function readObject(
  path: string,
  root: string,
  bytesMax: number,
): Promise<Record<string, unknown> | null> {
  const text = await readSource(path, root, bytesMax);
  if (text === null) return null;
  const whole = await parseJson(text.replace(/^\uFEFF/, ''));
  if (whole === undefined) throw new SourceError(`${path} is not valid JSON`);
  if (!isObject(whole)) throw new SourceError(`${path} is not a JSON object`);
  return whole;
}

function partOf(
  whole: Record<string, unknown> | null,
  path: string,
  keys: readonly string[],
): JsonObject | null {
  if (whole === null) return null;
  const value = keys.reduce<unknown>(
    (at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
    whole,
  );
  if (value === undefined) return null;
  const what = [path, ...keys].join(': ');
  if (!isObject(value)) throw new SourceError(`${what} is not an object`);
  if (!isWithin(value, JSON_BYTES_MAX))
    throw new SourceError(`${what} is larger than ${JSON_BYTES_MAX} bytes`);
  try {
    return toTable(value, NO_LOCATION);
  } catch (error) {
    throw new SourceError(
      `${what} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/** Whether a JSON value has at most so many characters and values. */
function isWithin(value: object, sizeMax: number): boolean {
  const waiting: unknown[] = [value];
  let size = 0;
  for (let at = waiting.pop(); at !== undefined && size <= sizeMax; at = waiting.pop()) {
    size += typeof at === 'string' ? at.length : 1;
    for (const [key, inside] of typeof at === 'object' && at !== null ? Object.entries(at) : []) {
      size += key.length;
      waiting.push(inside);
    }
  }
  return size <= sizeMax;
}
