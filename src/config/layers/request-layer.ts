import { cutText } from '../../base/cut-text.ts';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import { ConfigError, NO_LOCATION } from '../config-error.ts';
import { emptyTable, mergeTables, tableWith, toTable } from './config-table.ts';
import type { Layer } from './layer.ts';
import type { Toml } from './toml.ts';

const KEY_PARTS_MAX = 32;

/** The layer of `-c key=value` arguments, the later winning. */
export function flagsLayer(overrides: readonly string[], toml: Toml): Layer {
  const config = overrides.map((text) => parseOverride(text, toml)).reduce(mergeTables, emptyTable());
  return sessionLayer(config, 'given on the command line');
}

/** The layer of a request's `config` object. Its outermost keys may be dotted; below them a dot is part of a name. */
export function requestLayer(request: JsonObject): Layer {
  let config = emptyTable();
  for (const [key, value] of Object.entries(toTable(request, NO_LOCATION))) {
    config = mergeTables(config, tableWith(splitKey(key, "the request's config"), value));
  }
  return sessionLayer(config, "given in the request's config");
}

function sessionLayer(config: JsonObject, label: string): Layer {
  return { name: { type: 'sessionFlags' }, config, disabledReason: null, ignoredKeys: [], label, locate: () => NO_LOCATION };
}

function parseOverride(text: string, toml: Toml): JsonObject {
  const equals = text.indexOf('=');
  if (equals === -1) throw new ConfigError(`-c ${shorten(text)}: expected key=value`);
  const key = text.slice(0, equals).trim();
  return tableWith(splitKey(key, `-c ${shorten(key)}=…`), parseValue(text.slice(equals + 1).trim(), toml));
}

/** TOML where it is TOML, else the text itself: `-c model=name` needs no quotes. */
function parseValue(text: string, toml: Toml): JsonValue {
  const table = toml.tryParse(`value = ${text}\n`);
  if (table === null || Object.keys(table).length !== 1) return text;
  return table.value ?? text;
}

/** Cuts a dotted key; a part in quotes may hold dots: `projects."/a.b".trust_level`. */
function splitKey(key: string, where: string): string[] {
  const parts = [...key.matchAll(/"([^"]+)"|'([^']+)'|([^."'\s]+)/g)];
  if (parts.map(([whole]) => whole).join('.') !== key || key === '' || parts.length > KEY_PARTS_MAX) {
    throw new ConfigError(`${where}: ${JSON.stringify(shorten(key))} is not a key: expected names with dots between them`);
  }
  return parts.map(([, double, single, bare]) => double ?? single ?? bare ?? '');
}

function shorten(text: string): string {
  return text.length > 80 ? `${cutText(text, 80)}…` : text;
}
