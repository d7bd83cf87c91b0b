import { isObject, type JsonValue } from '../../base/json-value.ts';

/**
 * An entry of `[[skills.config]]`: whether the model gets a skill. Exactly one of `path`, of the
 * SKILL.md, and `name` is not null.
 */
export interface SkillSwitch {
  path: string | null;
  name: string | null;
  enabled: boolean;
}

/** The setting `skills.config`. */
export const SKILL_SWITCHES = {
  expected:
    'a list of tables, each with enabled (true or false) and either path (of a SKILL.md) or name',
  absent: [] as readonly SkillSwitch[],
  read(value: JsonValue): readonly SkillSwitch[] | undefined {
    if (!Array.isArray(value)) return undefined;
    const switches = value.map(readSwitch);
    return switches.every((entry) => entry !== null) ? switches : undefined;
  },
};

function readSwitch(value: JsonValue): SkillSwitch | null {
  if (!isObject(value)) return null;
  const { path = null, name = null, enabled } = value;
  if (typeof enabled !== 'boolean' || (path === null) === (name === null)) return null;
  return isNullOrText(path) && isNullOrText(name) ? { path, name, enabled } : null;
}

function isNullOrText(value: JsonValue): value is string | null {
  return value === null || (typeof value === 'string' && value.trim() !== '');
}
