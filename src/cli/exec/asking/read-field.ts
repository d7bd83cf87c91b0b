import { showText } from '../../../base/text/show-text.ts';
import type { McpElicitationPrimitiveSchema } from '../../../protocol/generated/types.ts';

type FieldValue = string | number | boolean | string[];

/** The meaning of a typed line for a field: a value, none, or the reason why it cannot be one. */
export type FieldAnswer = { value: FieldValue } | { value: null } | { problem: string };

interface Option {
  value: string;
  title: string;
}

/** The lines that show a field of a form: its title, its description and its options. */
export function fieldLines(name: string, field: McpElicitationPrimitiveSchema): string[] {
  const about = field.description === undefined ? [] : [`  ${showText(field.description)}`];
  return [
    showText(field.title ?? name),
    ...about,
    ...optionLines(optionsOf(field).map(({ title }) => title)),
  ];
}

/** Options with their numbers. */
export function optionLines(titles: readonly string[]): string[] {
  return titles.map((title, index) => `  ${index + 1}  ${showText(title)}`);
}

/** The text before the place where the person types. */
export function fieldPrompt(field: McpElicitationPrimitiveSchema, isRequired: boolean): string {
  const kind =
    optionsOf(field).length > 0
      ? field.type === 'array'
        ? 'numbers with commas'
        : 'number'
      : KINDS[field.type];
  const empty =
    field.default !== undefined
      ? `Enter: ${showText(String(field.default))}`
      : isRequired
        ? 'required'
        : 'Enter: none';
  return `${kind} (${empty}): `;
}

const KINDS = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'y or n',
  array: 'numbers with commas',
} as const;

/** Reads what the person has typed for a field. */
export function readField(
  field: McpElicitationPrimitiveSchema,
  typed: string,
  isRequired: boolean,
): FieldAnswer {
  const text = typed.trim();
  if (text === '') {
    if (field.default !== undefined) return { value: field.default };
    return isRequired ? { problem: 'an answer is required' } : { value: null };
  }
  const options = optionsOf(field);
  if (field.type === 'array') return readChoices(text, options, field);
  if (options.length > 0) return readChoice(text, options);
  if (field.type === 'boolean') return readBoolean(text);
  if (field.type !== 'string') return readNumber(text, field);
  return readText(text, 'enum' in field || 'oneOf' in field ? {} : field);
}

function optionsOf(field: McpElicitationPrimitiveSchema): Option[] {
  if (field.type === 'array') {
    const { items } = field;
    return 'enum' in items
      ? items.enum.map((value) => ({ value, title: value }))
      : items.anyOf.map(constOption);
  }
  if ('oneOf' in field) return field.oneOf.map(constOption);
  if (!('enum' in field)) return [];
  return field.enum.map((value, index) => ({ value, title: field.enumNames?.[index] ?? value }));
}

function constOption({ const: value, title }: { const: string; title: string }): Option {
  return { value, title };
}

function readChoice(
  text: string,
  options: readonly Option[],
): { value: string } | { problem: string } {
  const chosen =
    options[Number(text) - 1] ??
    options.find(({ value, title }) => value === text || title === text);
  return chosen === undefined
    ? { problem: `expected a number from 1 to ${options.length}` }
    : { value: chosen.value };
}

function readChoices(
  text: string,
  options: readonly Option[],
  { minItems, maxItems }: { minItems?: number; maxItems?: number },
): FieldAnswer {
  const values: string[] = [];
  for (const part of text.split(',')) {
    const choice = readChoice(part.trim(), options);
    if ('problem' in choice) return choice;
    if (!values.includes(choice.value)) values.push(choice.value);
  }
  if (values.length < (minItems ?? 0)) return { problem: `expected at least ${minItems}` };
  if (values.length > (maxItems ?? values.length))
    return { problem: `expected at most ${maxItems}` };
  return { value: values };
}

function readBoolean(text: string): FieldAnswer {
  if (/^(?:y|yes|true)$/i.test(text)) return { value: true };
  return /^(?:n|no|false)$/i.test(text) ? { value: false } : { problem: 'expected y or n' };
}

function readText(text: string, field: { minLength?: number; maxLength?: number }): FieldAnswer {
  const { length } = [...text];
  if (length < (field.minLength ?? 0))
    return { problem: `expected at least ${field.minLength} characters` };
  if (length > (field.maxLength ?? length))
    return { problem: `expected at most ${field.maxLength} characters` };
  return { value: text };
}

function readNumber(
  text: string,
  field: { type: string; minimum?: number; maximum?: number },
): FieldAnswer {
  const value = Number(text);
  if (!Number.isFinite(value)) return { problem: 'expected a number' };
  if (field.type === 'integer' && !Number.isInteger(value))
    return { problem: 'expected a whole number' };
  if (value < (field.minimum ?? value)) return { problem: `expected at least ${field.minimum}` };
  if (value > (field.maximum ?? value)) return { problem: `expected at most ${field.maximum}` };
  return { value };
}
