import type { Schema } from '../../../schema/bundle.ts';
import { isObject } from '../../base/json-value.ts';
import { choiceIn, settableNames } from './parse-line.ts';
import { type ProtocolFields, requiredIn, type Shape, valuesIn } from './protocol-fields.ts';
import { shownValue } from './shown-value.ts';

/**
 * The shape of the result for a request of the server: what the protocol says, and what the request
 * itself offers.
 */
export function answerShape(method: string, params: unknown, fields: ProtocolFields): Shape {
  const shape = fields.result(method);
  const own = isObject(params) ? offered(method, params) : null;
  return own === null ? shape : [own];
}

function offered(method: string, params: Record<string, unknown>): Schema | null {
  switch (method) {
    case 'item/commandExecution/requestApproval':
      if (!Array.isArray(params.availableDecisions)) return null;
      return object({ decision: { enum: params.availableDecisions } });
    case 'item/tool/requestUserInput':
      return object({
        answers: object(Object.fromEntries(elements(params.questions).map(question))),
      });
    case 'mcpServer/elicitation/request':
      if (!isObject(params.requestedSchema)) return null;
      return object({
        action: { enum: ['accept', 'decline', 'cancel'] },
        content: form(params.requestedSchema),
      });
    default:
      return null;
  }
}

function object(properties: Record<string, Schema>): Schema {
  return { type: 'object', required: Object.keys(properties), properties };
}

function elements(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function question({ id, options }: Record<string, unknown>): [string, Schema] {
  const labels = elements(options).map(({ label }) => label);
  return [String(id), object({ answers: { type: 'array', items: { enum: labels } } })];
}

/**
 * The fields of a form. They come from an MCP server, so nothing but plain types and values is
 * taken.
 */
function form({ properties, required }: Record<string, unknown>): Schema {
  const fields = Object.entries(isObject(properties) ? properties : {}).map(
    ([name, field]): [string, Schema] => [name, formField(field)],
  );
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return { type: 'object', required: names, properties: Object.fromEntries(fields) };
}

function formField(field: unknown): Schema {
  const { type, enum: values, oneOf } = isObject(field) ? field : {};
  const choices = [
    ...(Array.isArray(values) ? values : []),
    ...elements(oneOf).map(({ const: value }) => value),
  ];
  return {
    ...(typeof type === 'string' ? { type } : {}),
    ...(choices.length > 0 ? { enum: choices } : {}),
  };
}

/** How a person could answer, as a line. */
export function answerHint(shape: Shape, fields: ProtocolFields): string {
  const choice = choiceIn(shape, fields);
  const others = requiredIn(shape).filter((name) => name !== choice?.name);
  const first = choice === null ? [] : [choice.values.join('|')];
  return [
    'answer',
    ...first,
    ...others.flatMap((name) => pairHints(name, fields.field(shape, name), fields)),
  ].join(' ');
}

function pairHints(path: string, shape: Shape, fields: ProtocolFields): string[] {
  const values = valuesIn(shape).map(shownValue);
  if (values.length > 0) return [`${path}=${values.join('|')}`];
  const labels = valuesIn(fields.field(shape, null)).map((value) => JSON.stringify(value));
  if (labels.length > 0) return [`${path}=[${labels.join('|')}]`];
  const inner = settableNames(shape);
  return inner.length === 0
    ? [`${path}=…`]
    : inner.flatMap((name) => pairHints(`${path}.${name}`, fields.field(shape, name), fields));
}
