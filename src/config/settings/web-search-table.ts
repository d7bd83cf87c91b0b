import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';

/** The modes of `web_search`, of which each reads more than the one before it. */
export const WEB_SEARCH_MODES = ['disabled', 'cached', 'indexed', 'live'] as const;

/** The choices of `tools.web_search`, which in older files is true or false. */
export interface WebSearchTable {
  /** Null: neither. */
  enabled: boolean | null;
  /** How much of what it finds the model reads. Null: the provider decides. */
  contextSize: 'low' | 'medium' | 'high' | null;
  /** The only domains that it reads. Empty: all. */
  allowedDomains: readonly string[];
  /** The user's approximate place: country, region, city, timezone. Null: unknown. */
  location: Readonly<Record<string, string>> | null;
}

const CONTEXT_SIZES = ['low', 'medium', 'high'] as const;
const PLACES = ['country', 'region', 'city', 'timezone'];
const NO_CHOICES: WebSearchTable = {
  enabled: null,
  contextSize: null,
  allowedDomains: [],
  location: null,
};

/** The setting `tools.web_search`. */
export const WEB_SEARCH_TABLE = {
  expected:
    'true, false, or a table of context_size ("low", "medium" or "high"), allowed_domains (a list of strings) and ' +
    'location (a table of country, region, city and timezone, each a string)',
  absent: NO_CHOICES,
  read: (value: JsonValue) =>
    typeof value === 'boolean' ? { ...NO_CHOICES, enabled: value } : readTable(value),
};

function readTable(value: JsonValue): WebSearchTable | undefined {
  if (!isObject(value)) return undefined;
  const {
    context_size: size = null,
    allowed_domains: domains = [],
    location = null,
    ...others
  } = value;
  const contextSize = CONTEXT_SIZES.find((known) => known === size) ?? null;
  const isWrong = (size !== null && contextSize === null) || Object.keys(others).length > 0;
  if (isWrong || !isStrings(domains) || !(location === null || isLocation(location)))
    return undefined;
  return { enabled: null, contextSize, allowedDomains: domains, location };
}

function isStrings(value: JsonValue): value is string[] {
  return (
    Array.isArray(value) &&
    value.every((element) => typeof element === 'string' && element.trim() !== '')
  );
}

function isLocation(value: JsonValue): value is JsonObject & Record<string, string> {
  return (
    isObject(value) &&
    Object.entries(value).every(([key, place]) => PLACES.includes(key) && typeof place === 'string')
  );
}
