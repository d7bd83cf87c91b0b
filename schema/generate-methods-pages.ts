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

/** A page with requests of clients. */
interface Subject {
  name: string;
  title: string;
  /** What its methods are for, in words that follow "you know". */
  purpose: string;
  /** The first parts of the names of its methods. Null: all that no other page has. */
  families: readonly string[] | null;
}

const SUBJECTS: readonly Subject[] = [
  {
    name: 'threads',
    title: 'Methods of threads',
    purpose: 'each method that starts, reads, lists or changes threads',
    families: ['thread'],
  },
  {
    name: 'work',
    title: 'Methods of turns, commands and files',
    purpose: 'each method that runs turns, reviews and programs, or uses files',
    families: ['turn', 'review', 'command', 'process', 'fs', 'fuzzyFileSearch', 'gitDiffToRemote'],
  },
  {
    name: 'settings',
    title: 'Methods of settings and accounts',
    purpose:
      'the handshake, and each method about settings, models, accounts, MCP servers and other lists',
    families: null,
  },
];

const GENERATED = '<!-- Generated from schema/ by `npm run generate`. Do not edit. -->';

/** The pages that describe every method, as Markdown, by their paths. */
export function generateMethodsPages(
  definitions: Definitions,
  { methods, errors }: Tables,
): Record<string, string> {
  const { clientRequests, serverRequests, serverNotifications, clientNotifications } = methods;
  const rows = Object.entries(clientRequests);
  const served = rows.filter(([, row]) => row.result !== undefined);
  const any = Object.entries(errors.codes).flatMap(([code, row]) => (row.any ? [code] : []));
  const own = Object.entries(clientNotifications).map(
    ([method, row]) => `${heading(method)}${row.description}\n`,
  );
  const subjects = SUBJECTS.map((subject) => ({
    subject,
    rows: served.filter(([method]) => subjectOf(method) === subject),
  }));
  const main = [
    head(any),
    '## Requests of clients\n',
    ...subjects.map(
      ({ subject: { name, title }, rows: its }) =>
        `### ${title}\n\n${index(methodsOf(its), `methods/${name}.md`)}`,
    ),
    '## Notifications of clients\n',
    ...own,
    '## Methods that heddle refuses\n',
    'These methods belong to the protocol. heddle refuses them with `not_supported`.\n',
    table(['methods', 'why'], refused(rows.filter(([, row]) => row.result === undefined))),
  ];
  const ofServer = [
    pageHead('Messages of the server', 'each request and each notification that the server sends'),
    '## Requests of the server\n',
    'The client must respond to each. [approvals-on-the-wire.md](../approvals-on-the-wire.md) has whole messages and all responses.\n',
    index(Object.keys(serverRequests), ''),
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
  ];
  const ofClients = subjects.map(
    ({ subject: { name, title, purpose }, rows }): [string, string] => {
      const parts = rows.map(
        ([method, row]) => `${heading(method)}${clientRequest(definitions, row)}`,
      );
      return [
        `docs/methods/${name}.md`,
        [pageHead(title, purpose), ...parts].join('\n').replaceAll(/^### /gm, '## '),
      ];
    },
  );
  return {
    'docs/methods.md': main.join('\n'),
    ...Object.fromEntries(ofClients),
    'docs/methods/server.md': ofServer.join('\n'),
  };
}

function methodsOf(rows: readonly [string, ClientRequestRow][]): string[] {
  return rows.map(([method]) => method);
}

function subjectOf(method: string): Subject | undefined {
  const [family = ''] = method.split('/');
  return (
    SUBJECTS.find(({ families }) => families?.includes(family)) ??
    SUBJECTS.find(({ families }) => families === null)
  );
}

function pageHead(title: string, purpose: string): string {
  return `# ${title}\n\nAfter this page, you know ${purpose}.\n[methods.md](../methods.md) explains the lists.\n\n${GENERATED}\n`;
}

function head(any: readonly string[]): string {
  return `# Methods

After this page, you can find each method of a client, and read its description. [server.md](methods/server.md) has the requests and
notifications of the server.

${GENERATED}

[clients.md](clients.md) describes how messages belong together. \`heddle generate-json-schema\` writes the types of all messages.

- *Experimental* methods and fields need \`experimentalApi: true\` in the \`capabilities\` of \`initialize\`.
- Fields that heddle refuses unless they are empty, and fields that have no effect, are left out.
- A request *causes* the notifications that are listed with it. Most come after the response. A turn has its own order,
  which [clients.md](clients.md) describes.
- [errors.md](errors.md) describes the errors. Those with the number -32603, which the server or its machine causes, are only examples: they
  can come with any request. Any request can also fail with these:
  ${codes(any)}.
- 19 clients of this protocol were examined in 2026. If at least four of them use a request, its description says how many.
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
function index(methods: readonly string[], page: string): string {
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
      `[${method}](${page}#${method.toLowerCase().replaceAll('/', '')})`,
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
