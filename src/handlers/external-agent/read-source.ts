import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { isObject, type JsonObject } from '../../base/json-value.ts';
import { parseJson } from '../../base/parse-long-json.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { decodeUtf8 } from '../../base/text/decode-utf8.ts';
import { NO_LOCATION } from '../../config/config-error.ts';
import { toTable } from '../../config/layers/config-table.ts';
import { SourceError } from './found.ts';

/** `.claude.json` in the home folder also has the states of projects. */
const SOURCE_BYTES_MAX = 8 * 1024 * 1024;

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

/** The JSON object in a file of another agent, as `readSource`. The error does not quote the text: it may have secrets. */
export async function readSourceJson(path: string, root: string): Promise<JsonObject | null> {
  const text = await readSource(path, root);
  if (text === null) return null;
  const value = await parseJson(text.replace(/^\uFEFF/, ''));
  if (value === undefined) throw new SourceError(`${path} is not valid JSON`);
  if (!isObject(value)) throw new SourceError(`${path} is not a JSON object`);
  try {
    return toTable(value, NO_LOCATION);
  } catch (error) {
    throw new SourceError(`${path} cannot be used: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
