import { latePattern } from './late-pattern.ts';

/**
 * The JSON of a value, with characters made visible that are not shown, or that change the order of
 * others.
 */
export function visibleJson(value: object): string {
  return JSON.stringify(value).replace(hiddenCharacters(), (hidden) =>
    [...Array(hidden.length).keys()]
      .map((at) => `\\u${hidden.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

const hiddenCharacters = latePattern(() => /[\p{Cf}\p{Cc}\p{Variation_Selector}\u2028\u2029]/gu);
