import { suggestKey } from '../../base/text/suggest-key.ts';
import {
  namesIn,
  type ProtocolFields,
  requiredIn,
  type Shape,
  typesIn,
  valuesIn,
} from './protocol-fields.ts';
import { shownValue } from './shown-value.ts';

const COMMANDS = `METHOD [NAME=VALUE...]   send a request: turn/start input="say hello"
METHOD {JSON}            send a request with exactly these params
answer CHOICE            answer the oldest request of the server
answer ID CHOICE         answer the request of the server with this id
answer NAME=VALUE...     the same with fields, or with {JSON}
refuse [TEXT]            answer it with an error
show                     print the last response in full
show METHOD              print the last message of this method in full
help METHOD              print the fields of a method
exit                     end the session, like Ctrl-D

@thread and @turn are the ids of the last thread and turn, @thread1 is that of
the first thread.
Tab completes methods, fields and values. Ctrl-C interrupts the running turns.`;

const NAME_CHARS = 24;

/** The lines that explain the language of sessions, or the params of a method. */
export function methodHelp(method: string | null, fields: ProtocolFields): string[] {
  if (method === null) return COMMANDS.split('\n');
  if (!fields.methods.includes(method)) {
    const nearest = suggestKey(method, fields.methods);
    return [
      `a client cannot send ${method}${nearest === null ? '' : `: did you mean ${nearest}?`}`,
    ];
  }
  const shape = fields.params(method);
  const names = namesIn(shape);
  const required = requiredIn(shape);
  const about = shape.flatMap(({ description = [] }) => description);
  const rows = names.map((name) => {
    const field = fields.field(shape, name);
    const [text = ''] = [
      ...shape.flatMap(({ properties }) => properties?.[name]?.description ?? []),
    ];
    const kind = `${kindOf(field, fields)}${required.includes(name) ? ', required' : ''}`;
    return `  ${name.padEnd(NAME_CHARS)} ${kind}${text === '' ? '' : `. ${text}`}`;
  });
  return [
    `${method}${about.length === 0 ? '' : `: ${about.join(' ')}`}`,
    ...(rows.length === 0 ? ['  (no params)'] : rows),
  ];
}

function kindOf(shape: Shape, fields: ProtocolFields): string {
  const values = valuesIn(shape).map(shownValue);
  const types = typesIn(shape).filter(
    (type) => type !== 'null' && type !== 'array' && !(values.length > 0 && type !== 'object'),
  );
  const elements = fields.field(shape, null);
  const list = typesIn(shape).includes('array')
    ? [`list of ${elements.length === 0 ? 'anything' : kindOf(elements, fields)}`]
    : [];
  const all = [...values, ...types, ...list];
  return all.length === 0 ? 'anything' : all.join('|');
}
