const KEY_PARTS_MAX = 32;

/** A name as a part of a dotted key. Null: it cannot be written there. */
export function quotedKey(name: string): string | null {
  const quote = [`"`, `'`].find((mark) => !name.includes(mark));
  return name === '' || quote === undefined ? null : `${quote}${name}${quote}`;
}

/**
 * Splits a dotted key. A quoted part may contain dots: `projects."/a.b".trust_level`. Returns null
 * if it is not a key.
 */
export function splitKey(key: string): string[] | null {
  const parts = [...key.matchAll(/"([^"]+)"|'([^']+)'|([^."'\s]+)/g)];
  if (parts.map(([whole]) => whole).join('.') !== key || key === '' || parts.length > KEY_PARTS_MAX)
    return null;
  return parts.map(([, double, single, bare]) => double ?? single ?? bare ?? '');
}
