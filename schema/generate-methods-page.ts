import {
  type ClientRequestRow,
  type Definitions,
  definitionName,
  type ErrorTable,
  type MethodTable,
  type Schema,
} from './bundle.ts';

interface Tables {
  methods: MethodTable;
  errors: ErrorTable;
}

/** The field of an object: whether it must be there, and whether it needs the experimental API. */
interface Field {
  name: string;
  required: boolean;
  experimental: boolean;
}

/** The page that describes every method, as Markdown. */
export function generateMethodsPage(definitions: Definitions, { methods, errors }: Tables): string {
  const { clientRequests, serverRequests, serverNotifications, clientNotifications } = methods;
  const rows = Object.entries(clientRequests);
  const served = rows.filter(([, row]) => row.result !== undefined);
  const any = Object.entries(errors.codes).flatMap(([code, row]) => (row.any ? [code] : []));
  const own = Object.entries(clientNotifications).map(
    ([method, row]) => `${heading(method)}${row.description}\n`,
  );
  return [
    head(any),
    '## Requests of clients\n',
    index(served.map(([method]) => method)),
    ...served.map(([method, row]) => `${heading(method)}${clientRequest(definitions, row)}`),
    '## Notifications of clients\n',
    ...own,
    '## Requests of the server\n',
    'The client must respond to each. [approvals-on-the-wire.md](approvals-on-the-wire.md) has whole messages and all responses.\n',
    index(Object.keys(serverRequests)),
    ...Object.entries(serverRequests).map(([method, { description, params, result, clients }]) =>
      [
        `${heading(method)}${description}\n`,
        ...fieldLists('Params', fieldsOf(definitions, params)),
        ...fieldLists('Response', fieldsOf(definitions, result)),
        `- Answered by ${clients} of 19 clients.\n`,
      ].join('\n'),
    ),
    '## Notifications of the server\n',
    '`optOutNotificationMethods` of `initialize` names those that a client does not want.\n',
    table(['notification', 'meaning'], Object.entries(serverNotifications).map(notificationCells)),
    '## Methods that heddle refuses\n',
    'These methods belong to the protocol. heddle refuses them with `not_supported`.\n',
    table(['methods', 'why'], refused(rows.filter(([, row]) => row.result === undefined))),
  ].join('\n');
}

function head(any: readonly string[]): string {
  return `# Methods

<!-- Generated from schema/ by \`npm run generate\`. Do not edit. -->

This page lists all requests and notifications: those that a client sends, and those that the server sends. [clients.md](clients.md)
describes how they belong together. \`heddle generate-json-schema\` writes the types of all messages.

- *Experimental* methods and fields need \`experimentalApi: true\` in the \`capabilities\` of \`initialize\`.
- Fields that heddle refuses unless they are empty, and fields that have no effect, are left out.
- A request *causes* the notifications that are listed with it. Most come after the response. A turn has its own order,
  which [clients.md](clients.md) describes.
- [errors.md](errors.md) describes the errors. Those with the number -32603, which the server or its machine causes, are only examples: they
  can come with any request. Any request can also fail with these:
  ${codes(any)}.
- 19 clients of this protocol were examined in 2026. If at least four of them use a request, this page says how many.
`;
}

function clientRequest(definitions: Definitions, row: ClientRequestRow): string {
  const { description, stability, params, notifications, errors, clients } = row;
  const lines = [
    ...(stability === 'experimental' ? ['- Experimental.'] : []),
    ...(params ? fieldLists('Params', fieldsOf(definitions, params)) : []),
    ...(notifications ? [`- Causes: ${codes(notifications)}.`] : []),
    ...(errors ? [`- Errors: ${codes(errors)}.`] : []),
    ...(clients === undefined ? [] : [`- Used by ${clients} of 19 clients.`]),
  ];
  return `${description}\n${lines.length > 0 ? `\n${lines.join('\n')}\n` : ''}`;
}

function fieldLists(what: string, fields: readonly Field[]): string[] {
  const named = (required: boolean, experimental: boolean) =>
    fields
      .filter((field) => field.required === required && field.experimental === experimental)
      .map(({ name }) => name);
  const lists: [string, string[]][] = [
    ['', fields.filter(({ required }) => required).map(({ name }) => name)],
    ['optional: ', named(false, false)],
    ['experimental: ', named(false, true)],
  ];
  const shown = lists.flatMap(([label, names]) =>
    names.length === 0 ? [] : [`${label}${codes(names)}`],
  );
  return shown.length === 0 ? [] : [`- ${what}: ${shown.join('; ')}.`];
}

/** The fields that a client can use. In a union, a field is required if all variants require it. */
function fieldsOf(definitions: Definitions, reference: string): Field[] {
  const schema = definitions[definitionName(reference)] ?? {};
  const variants = (schema.oneOf ?? schema.anyOf ?? []).map((variant) =>
    resolved(definitions, variant),
  );
  const parts = schema.properties ? [schema] : variants;
  const names = new Set(parts.flatMap(({ properties = {} }) => Object.keys(properties)));
  return [...names].flatMap((name) => {
    const property =
      parts.map(({ properties = {} }) => properties[name]).find((found) => found !== undefined) ??
      {};
    if (property['x-not-served'] || property.description?.startsWith('Has no effect:')) return [];
    const required = parts.every((part) => part.required?.includes(name));
    return [{ name, required, experimental: Boolean(property['x-experimental']) }];
  });
}

function resolved(definitions: Definitions, { $ref, ...schema }: Schema): Schema {
  return $ref === undefined ? schema : (definitions[definitionName($ref)] ?? {});
}

function notificationCells([method, { description }]: [string, { description: string }]): string[] {
  return [`\`${method}\``, description];
}

/** The methods that are refused for the same reason, in one row. */
function refused(rows: readonly [string, ClientRequestRow][]): string[][] {
  const reasons = [...new Set(rows.map(([, row]) => row.description))];
  return reasons.map((reason) => {
    const names = rows.flatMap(([method, row]) => (row.description === reason ? [method] : []));
    return [codes(names), reason];
  });
}

/**
 * Links to the headings of methods. Those that begin with the same one or two parts are in one
 * line, all others in the last one.
 */
function index(methods: readonly string[]): string {
  const begin = (method: string, parts: number) => method.split('/').slice(0, parts).join('/');
  const isShared = (method: string, parts: number) =>
    methods.filter((other) => begin(other, parts) === begin(method, parts)).length > 1;
  const groups = new Map<string, string[]>();
  for (const method of methods) {
    const group =
      [2, 1].filter((parts) => isShared(method, parts)).map((parts) => begin(method, parts))[0] ??
      '';
    groups.set(group, [
      ...(groups.get(group) ?? []),
      `[${method}](#${method.toLowerCase().replaceAll('/', '')})`,
    ]);
  }
  const lines = [...groups].sort(([one], [other]) => Number(one === '') - Number(other === ''));
  return `${lines.map(([, links]) => `- ${links.join(', ')}`).join('\n')}\n`;
}

function heading(method: string): string {
  return `### ${method}\n\n`;
}

function table(titles: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return `${[line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)].join('\n')}\n`;
}

function codes(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
