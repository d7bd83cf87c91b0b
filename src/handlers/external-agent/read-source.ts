import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { type FolderEntries, listFolder } from '../../base/files/list-folder.ts';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { isObject, type JsonObject } from '../../base/json-value.ts';
import { parseJson } from '../../base/parse-long-json.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { decodeUtf8 } from '../../base/text/decode-utf8.ts';
import { NO_LOCATION } from '../../config/config-error.ts';
import { toTable } from '../../config/layers/config-table.ts';
import { SourceError } from './found.ts';

const SOURCE_BYTES_MAX = 8 * 1024 * 1024;
/** The largest JSON that is taken, so that no step with it takes long. */
const JSON_BYTES_MAX = 256 * 1024;
/** `.claude.json` in the home folder also has the states of projects, of which nothing is taken. */
export const STATE_BYTES_MAX = 8 * 1024 * 1024;

/** The text of a file of another agent; null: there is none. `root`: the file must lie in it. Rejects with a SourceError. */
export async function readSource(path: string, root: string, bytesMax = SOURCE_BYTES_MAX): Promise<string | null> {
  const real = realPathOrSame(root);
  try {
    const file = await readRegularFile(path, { bytesMax, mayLieAt: (found) => isBelow(found, real) });
    const text = file === null ? null : await decodeUtf8(file.bytes, new EventLoopYield());
    if (file !== null && text === null) throw new Error('it is not UTF-8 text');
    return text;
  } catch (error) {
    throw new SourceError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Lists at most so many entries of a folder of another agent. Rejects with a SourceError if it cannot be listed. */
export async function listSource(folder: string, entriesMax: number): Promise<FolderEntries> {
  try {
    return await listFolder(folder, entriesMax);
  } catch (error) {
    throw new SourceError(`${folder} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

interface JsonPart {
  /** Where in the file the object is. Default: it is the whole file. */
  keys?: readonly string[];
  /** The largest file. */
  bytesMax?: number;
}

/**
 * The JSON object in a file of another agent, as `readSource`; null: there is no file, or nothing at the keys. The error does not quote
 * the text: it may have secrets.
 */
export async function readSourceJson(
  path: string,
  root: string,
  { keys = [], bytesMax = JSON_BYTES_MAX }: JsonPart = {},
): Promise<JsonObject | null> {
  const text = await readSource(path, root, bytesMax);
  if (text === null) return null;
  const whole = await parseJson(text.replace(/^\uFEFF/, ''));
  if (whole === undefined) throw new SourceError(`${path} is not valid JSON`);
  if (!isObject(whole)) throw new SourceError(`${path} is not a JSON object`);
  const value = keys.reduce<unknown>((at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), whole);
  if (value === undefined) return null;
  const what = [path, ...keys].join(': ');
  if (!isObject(value)) throw new SourceError(`${what} is not an object`);
  if (bytesMax > JSON_BYTES_MAX && !isWithin(value, JSON_BYTES_MAX))
    throw new SourceError(`${what} is larger than ${JSON_BYTES_MAX} bytes`);
  try {
    return toTable(value, NO_LOCATION);
  } catch (error) {
    throw new SourceError(`${what} cannot be used: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
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
