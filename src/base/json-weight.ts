/** Approximately the characters that a member or an element takes in JSON, besides its strings. */
const NODE_CHARS = 8;

/** The approximate length of a value's JSON text, in characters. Stops counting above `max`. Cheap for long strings. */
export function jsonWeight(value: unknown, max = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string') return value.length + NODE_CHARS;
  if (typeof value !== 'object' || value === null) return NODE_CHARS;
  let weight = NODE_CHARS;
  if (Array.isArray(value)) {
    for (const element of value) {
      weight += jsonWeight(element, max - weight);
      if (weight > max) return weight;
    }
    return weight;
  }
  for (const name in value) {
    weight += name.length + jsonWeight((value as Record<string, unknown>)[name], max - weight);
    if (weight > max) return weight;
  }
  return weight;
}
