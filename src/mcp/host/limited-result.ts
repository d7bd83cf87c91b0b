import type { JsonValue } from '../../base/json-value.ts';
import type { McpRequest } from '../messages/mcp-host.ts';
import { callOutcome } from './call-outcome.ts';
import { cutJson, fitsLimits } from './limits/json-limits.ts';

/** The largest result that is taken. */
const RESULT = { chars: 16 * 1024 * 1024, values: Number.POSITIVE_INFINITY, depth: 100 };
/** So many values hold up the main thread for about 10 ms. */
const VALUES_MAX = 50_000;

/** The result of a request within the limits of the one who asked. Rejects if it is too large. */
export async function limitedResult(
  request: Exclude<McpRequest, { op: 'listTools' }>,
  result: JsonValue,
): Promise<JsonValue> {
  if (!fitsLimits(RESULT, result))
    throw new Error(
      `the answer of the server is longer than ${RESULT.chars / 1024 / 1024} MiB, or nested too deeply`,
    );
  const { charsMax } = request;
  if (charsMax !== undefined && request.op === 'callTool')
    return (await callOutcome(result, charsMax)) as unknown as JsonValue;
  if (charsMax !== undefined) return cutJson(result, charsMax);
  if (!fitsLimits({ ...RESULT, values: VALUES_MAX }, result))
    throw new Error(`the answer of the server has more than ${VALUES_MAX} values`);
  return result;
}
