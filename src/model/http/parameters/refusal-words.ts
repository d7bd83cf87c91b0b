import { parsedJson, walkJson } from '../../../base/json-value.ts';
import { cutText } from '../../../base/text/cut-text.ts';

const SEARCHED_DEPTH_MAX = 8;
const TEXTS_MAX = 200;
/** The longest text that is looked at, so that an error of megabytes takes no time. */
const TEXT_CHARS_MAX = 64 * 1024;
/** The statuses of requests that are not valid. */
const INVALID: ReadonlySet<number> = new Set([400, 422]);
/** The statuses whose cause is never a parameter. */
const OTHER_CAUSE: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 413, 429]);
/** The words of refusals that have another status. */
const REFUSES =
  /not (?:\w+ )?(?:support|permit|allow|implement|available|accept|valid|recogni[sz])|unsupported|unknown|unrecogni[sz]ed|unexpected|invalid|extra (?:field|input)|no endpoints|item with id/i;
/** The fields in which errors name a parameter. */
const PLACES: ReadonlySet<string> = new Set(['param', 'parameter', 'loc', 'field', 'path']);
/** The fields in which errors repeat what was sent. */
const REPEATS: ReadonlySet<string> = new Set(['input', 'request', 'messages', 'received', 'url']);

/**
 * The words of an error that may refuse a parameter of the request: first those of fields that name
 * one, then the others. Without those of fields that repeat the request. Empty: the cause is
 * another one. `status`: the HTTP status; that of success, if the error came in such a response and
 * names none.
 */
export function refusalWords(error: unknown, status: number): string[] {
  if (OTHER_CAUSE.has(status)) return [];
  const value =
    typeof error === 'string' && error.length <= TEXT_CHARS_MAX
      ? (parsedJson(error) ?? error)
      : error;
  const places: string[] = [];
  const others: string[] = [];
  walkJson(value, (part, key, depth, isElement) => {
    const place = key !== null && !isElement && PLACES.has(key) ? placeText(part) : null;
    if (place !== null) places.push(place);
    const isLeftOut = place !== null || (key !== null && REPEATS.has(key));
    if (isLeftOut || depth > SEARCHED_DEPTH_MAX || others.length > TEXTS_MAX) return false;
    if (typeof part === 'string') others.push(cutText(part, TEXT_CHARS_MAX));
    return true;
  });
  const words = [...places, ...others];
  return INVALID.has(status) || words.some((text) => REFUSES.test(text)) ? words : [];
}

function placeText(place: unknown): string | null {
  if (typeof place === 'string') return place;
  return Array.isArray(place) &&
    place.every((part) => typeof part === 'string' || typeof part === 'number')
    ? place.join('.')
    : null;
}
