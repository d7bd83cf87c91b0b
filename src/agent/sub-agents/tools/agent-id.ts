import { isUuid } from '../../../base/ids.ts';
import type { JsonObject, JsonValue } from '../../../base/json-value.ts';
import { BadArguments } from '../../../tools/bad-arguments.ts';

/** The id of an agent, under the first of the names that is given. Throws BadArguments. */
export function agentId(fields: JsonObject, names: readonly [string, ...string[]]): string {
  const id = names
    .map((name) => fields[name])
    .find((value) => value !== undefined && value !== null);
  if (!isAgentId(id)) throw new BadArguments(`\`${names[0]}\` must be the id of an agent.`);
  return id.toLowerCase();
}

export function isAgentId(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && isUuid(value);
}
