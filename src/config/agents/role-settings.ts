import type { JsonValue } from '../../base/json-value.ts';
import { nullable, type Setting } from '../settings/setting.ts';

const NAME_CHARS_MAX = 64;
const DESCRIPTION_CHARS_MAX = 2_000;
const NICKNAMES_MAX = 100;

/** The keys that describe a role. All other keys of a role are settings of its agents. */
export const ROLE_SETTINGS = {
  name: nullable(roleName()),
  description: nullable(description()),
  nickname_candidates: nicknames(),
  config_file: nullable(path()),
} as const satisfies Record<string, Setting<unknown>>;

/** The name of a role or of an agent: models and people have to be able to repeat it. */
function isName(text: string): boolean {
  return text.length <= NAME_CHARS_MAX && /^[\p{L}\p{N}_][\p{L}\p{N} ._-]*$/u.test(text);
}

function roleName(): Setting<string> {
  return {
    expected: `a name of at most ${NAME_CHARS_MAX} letters, digits, spaces, dots, hyphens and underscores`,
    absent: '',
    read: (value) => (typeof value === 'string' && isName(value) ? value : undefined),
  };
}

function description(): Setting<string> {
  return {
    expected: `a string of at most ${DESCRIPTION_CHARS_MAX} characters`,
    absent: '',
    read: (value) =>
      typeof value === 'string' && value.length <= DESCRIPTION_CHARS_MAX ? value : undefined,
  };
}

function path(): Setting<string> {
  return {
    expected: 'a path',
    absent: '',
    read: (value) => (typeof value === 'string' && value.trim() !== '' ? value : undefined),
  };
}

function nicknames(): Setting<readonly string[]> {
  const read = (value: JsonValue) => {
    if (!Array.isArray(value) || value.length === 0 || value.length > NICKNAMES_MAX)
      return undefined;
    const names = value.filter((name) => typeof name === 'string' && isName(name)) as string[];
    return names.length === value.length && new Set(names).size === names.length
      ? names
      : undefined;
  };
  return {
    expected: `a list of 1 to ${NICKNAMES_MAX} different names, each of at most ${NAME_CHARS_MAX} letters, digits, spaces, dots, hyphens and underscores`,
    absent: [],
    read,
  };
}
