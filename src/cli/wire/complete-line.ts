import { showText } from '../../base/text/show-text.ts';
import { jsonCursor } from './json-cursor.ts';
import { choiceIn, settableNames, WIRE_COMMANDS, withoutId } from './parse-line.ts';
import { namesIn, type ProtocolFields, type Shape, typesIn, valuesIn } from './protocol-fields.ts';
import { shownValue } from './shown-value.ts';
import { splitPairs } from './split-pairs.ts';

export interface LineContext {
  fields: ProtocolFields;
  /**
   * The shape of the result for a request of the server that is open. Null: the oldest one. Empty:
   * there is none.
   */
  answerShape(id: number | null): Shape;
}

/** The ways to go on, and the part of the line that they replace. */
export type Completions = [completions: string[], replaced: string];

/** With more methods than these, only the first parts of their names are offered. */
const METHODS_MAX = 16;
const LINE_CHARS_MAX = 16 * 1024;
const REFERENCES: Readonly<Record<string, string>> = {
  threadId: '@thread',
  turnId: '@turn',
  expectedTurnId: '@turn',
};

/** Completes the line up to the cursor: commands, methods, names of fields, values. */
export function completeLine(line: string, context: LineContext): Completions {
  const { fields } = context;
  const text = line.trimStart();
  if (text.length > LINE_CHARS_MAX) return [[], ''];
  const [, word = '', rest] = /^(\S*)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  if (rest === undefined)
    return fitting(word, text.startsWith('{') ? [] : firstWords(word, context));
  switch (word) {
    case 'answer': {
      const { id, rest: answer } = withoutId(rest);
      const shape = context.answerShape(id);
      const choices = /\s/.test(answer)
        ? []
        : (choiceIn(shape, fields)?.values ?? []).map((value) => `${value} `);
      return completeFields(answer, shape, { fields, others: choices });
    }
    case 'now':
      return completeLine(rest, context);
    case 'help':
      return fitting(rest, firstWords(rest, context));
    case 'show':
    case 'wait':
      return fitting(rest, fields.serverNotifications);
    default:
      return completeFields(rest, fields.params(word), { fields, others: [] });
  }
}

function fitting(typed: string, all: readonly string[]): Completions {
  // Forms and questions of others have names and values too: nothing that acts on the terminal is
  // offered.
  return [all.filter((one) => one.startsWith(typed) && showText(one) === one), typed];
}

/** The commands and methods that begin so. */
function firstWords(typed: string, { fields, answerShape }: LineContext): string[] {
  if (typed === '' && answerShape(null).length > 0) return ['answer '];
  const methods = fields.methods.filter((method) => method.startsWith(typed));
  const commands = WIRE_COMMANDS.filter((command) => command.startsWith(typed));
  if (methods.length <= METHODS_MAX) return [...commands, ...methods.map((method) => `${method} `)];
  const parts = methods.map((method) => /^[^/]*\/?/.exec(method.slice(typed.length))?.[0] ?? '');
  return [...new Set([...commands, ...parts.map((part) => `${typed}${part}`)])];
}

interface FieldContext {
  fields: ProtocolFields;
  /** Further words that can stand in place of a name. */
  others: readonly string[];
}

/** Completes the params of a request, or the result of an answer. */
function completeFields(text: string, shape: Shape, { fields, others }: FieldContext): Completions {
  if (text.startsWith('{')) return completeJson(text, shape, fields);
  const pairs = splitPairs(text);
  const last = pairs.at(-1);
  if (last === undefined || last.end < text.length)
    return completeName('', shape, { fields, others, taken: pairs.map(({ name }) => name) });
  const { name, value } = last;
  if (value === null)
    return completeName(name, shape, {
      fields,
      others,
      taken: pairs.slice(0, -1).map((pair) => pair.name),
    });
  const path = name.split('.');
  const inner = fields.at(shape, path);
  if (value.startsWith('{') || value.startsWith('[')) return completeJson(value, inner, fields);
  const values = [...valuesIn(inner), ...references(path.at(-1), inner)];
  const shown = value.startsWith('"') ? (one: unknown) => JSON.stringify(one) : shownValue;
  return fitting(
    value,
    values.map((one) => `${shown(one)} `),
  );
}

function references(name: string | null | undefined, shape: Shape): string[] {
  const reference = name == null ? undefined : REFERENCES[name];
  return reference !== undefined && typesIn(shape).includes('string') ? [reference] : [];
}

function completeName(
  typed: string,
  shape: Shape,
  { fields, others, taken }: FieldContext & { taken: readonly string[] },
): Completions {
  const outer = typed.slice(0, typed.lastIndexOf('.') + 1);
  const object = fields.at(shape, outer.split('.').slice(0, -1));
  const names = settableNames(object).filter((name) => !taken.includes(`${outer}${name}`));
  const paths = names.map((name) => {
    const inner = fields.field(object, name);
    const isObject = namesIn(inner).length > 0 && valuesIn(inner).length === 0;
    return `${outer}${name}${isObject ? '.' : '='}`;
  });
  return fitting(typed, [...(outer === '' ? others : []), ...paths]);
}

function completeJson(text: string, shape: Shape, fields: ProtocolFields): Completions {
  const cursor = jsonCursor(text);
  if (cursor === null) return [[], ''];
  const { path, expects, typed, names } = cursor;
  const inner = fields.at(shape, path);
  if (expects === 'name') {
    const free = namesIn(inner).filter((name) => !names.includes(name));
    return fitting(
      typed,
      free.map((name) => `${JSON.stringify(name)}:`),
    );
  }
  const values = [...valuesIn(inner), ...references(path.at(-1), inner)].map((value) =>
    JSON.stringify(value),
  );
  return fitting(typed, [...values, ...opening(inner)]);
}

/** The bracket that begins an object or a list. */
function opening(shape: Shape): string[] {
  const types = typesIn(shape);
  return [...(types.includes('object') ? ['{'] : []), ...(types.includes('array') ? ['['] : [])];
}
