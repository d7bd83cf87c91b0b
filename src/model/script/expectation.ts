import type { ScriptShape } from './script-shape.ts';

/** The key that tells objects of a union apart. */
export function tagOf({ required = [] }: ScriptShape): string {
  return required[0] ?? '';
}

export function expectation(shapes: readonly ScriptShape[]): string {
  const objects = shapes.filter(({ type }) => type === 'object');
  const tags = [
    ...new Set(objects.flatMap((shape) => tagOf(shape) || Object.keys(shape.properties ?? {}))),
  ];
  const object =
    tags.length === 0
      ? 'an object'
      : `an object with ${tags.length === 1 ? '' : 'one of '}${tags.join(', ')}`;
  const others = shapes.filter((shape) => !objects.includes(shape)).map(kind);
  const all = [...new Set([...others, ...(objects.length === 0 ? [] : [object])])];
  return [...(all.length > 1 ? [all.slice(0, -1).join(', ')] : []), all.at(-1)].join(' or ');
}

function kind({
  type,
  enum: words,
  const: constant,
  minLength = 0,
  minimum = 0,
  maximum,
}: ScriptShape): string {
  if (constant !== undefined) return String(constant);
  if (words !== undefined) return words.length === 1 ? `${words[0]}` : `one of ${words.join(', ')}`;
  switch (type) {
    case 'string':
      return minLength > 0 ? 'a non-empty string' : 'a string';
    case 'integer':
      return maximum === undefined
        ? `a whole number, ${minimum} or more`
        : `a whole number from ${minimum} to ${maximum}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'an array';
    default:
      return 'a value';
  }
}
