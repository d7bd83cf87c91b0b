import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleDefinitions, readErrorTable, readMethodTable } from '../../schema/bundle.ts';
import { generateErrorsPages } from '../../schema/generate-errors-pages.ts';
import { generateMethodsPages } from '../../schema/generate-methods-pages.ts';
import { INPUT_CHARS_MAX } from '../../src/agent/prompt/check-input.ts';
import { FEATURE_LIST } from '../../src/config/features/feature-list.ts';
import { HOOK_EVENTS } from '../../src/config/hooks/hook-events.ts';
import { KNOWN_TABLES, UNSERVED_PROVIDER_KEYS } from '../../src/config/keys/known-tables.ts';
import { DENIED_KEYS, REQUIREMENT_LISTS } from '../../src/config/requirements/requirements.ts';
import { SETTING_NAMES } from '../../src/config/settings/settings.ts';
import { PROJECT_SETTING_NAMES } from '../../src/config/with-project-settings.ts';
import { LINE_BYTES_MAX } from '../../src/protocol/line-bytes-max.ts';
import { REQUESTS_IN_FLIGHT_MAX } from '../../src/transport/json-reader.ts';
import { workloads } from '../bench/workloads.ts';
import { LOADS } from '../process/hostile/busy-loads.ts';
import { codeIn, PAGES, ROOT, section, sourceFiles, textOf } from './pages.ts';

const schemaFolder = join(ROOT, 'schema');
const definitions = bundleDefinitions(schemaFolder);
const methods = readMethodTable(schemaFolder);
const errors = readErrorTable(schemaFolder);
/** All requests and notifications, of both sides. */
const rows = Object.values(methods).flatMap(
  (table: Record<string, { description: string; result?: string }>) => Object.entries(table),
);

/**
 * The words in quotes in files of the source, without the schema's own names in generated files.
 */
function wordsIn(paths: readonly string[]): Set<string> {
  return new Set(
    paths.flatMap((path) =>
      [...textOf(path).matchAll(/'([A-Za-z_]+)'|(?<![\w'])([a-zA-Z]+)(?=: )/g)].map(
        ([, a, b]) => a ?? b ?? '',
      ),
    ),
  );
}

test('the errors of schema/errors.json are those that the source uses: the compiler refuses any other', () => {
  const words = wordsIn(sourceFiles());
  expect(Object.keys(errors.codes).filter((code) => !words.has(code))).toEqual([]);
  const kinds = definitions.CodexErrorInfo?.anyOf?.flatMap(
    ({ enum: words = [], required = [] }) => [...words, ...required],
  );
  expect(Object.keys(errors.turnErrors).sort()).toEqual(kinds?.sort());
});

test('only imported rollouts and scripts have the kinds of failures for which docs/errors/turns.md has no advice', () => {
  const ofTurns = wordsIn(
    sourceFiles().filter((path) => !/^src\/(?:rollout|model\/script)\//.test(path)),
  );
  const kinds = Object.entries(errors.turnErrors);
  expect(
    kinds.flatMap(([kind, { advice }]) =>
      advice === undefined && ofTurns.has(kind) ? [kind] : [],
    ),
  ).toEqual([]);
  expect(
    kinds.flatMap(([kind, { advice }]) =>
      advice !== undefined && !ofTurns.has(kind) ? [kind] : [],
    ),
  ).toEqual([]);
});

test('the pages on errors and methods are generated from the schema, and have every error and every method once', () => {
  const [errorPages, methodPages] = [
    generateErrorsPages(errors),
    generateMethodsPages(definitions, { methods, errors }),
  ];
  for (const [path, text] of Object.entries({ ...errorPages, ...methodPages }))
    expect([path, textOf(path)]).toEqual([path, text]);
  expect(PAGES.filter((page) => /^docs\/(?:errors|methods)(?:\.md|\/)/.test(page))).toEqual(
    Object.keys({ ...errorPages, ...methodPages }).sort(),
  );
  const [errorsText, methodsText] = [errorPages, methodPages].map((pages) =>
    Object.values(pages).join('\n'),
  );
  const cells = [...(errorsText ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);
  expect([...cells].sort()).toEqual(
    [...Object.keys(errors.codes), ...Object.keys(errors.turnErrors)].sort(),
  );
  const headings = [...(methodsText ?? '').matchAll(/^##+ ([a-z]\S*)$/gm)].map(
    ([, heading]) => heading,
  );
  const firstCells = [...(methodsText ?? '').matchAll(/^\| (`.*?`) \| /gm)].flatMap(
    ([, cell = '']) => codeIn(cell),
  );
  expect([...headings, ...firstCells].sort()).toEqual(rows.map(([method]) => method).sort());
});

test('every method has a sentence of its own, and names only errors and notifications that exist', () => {
  const isText = (text: string) => /^[A-Za-z].*[^.]\.$/.test(text) && text === text.trim();
  expect(rows.filter(([, { description }]) => !isText(description))).toEqual([]);
  const served = rows.flatMap(([, row]) =>
    'stability' in row && row.result === undefined ? [] : [row.description],
  );
  expect(served.filter((text, index) => served.indexOf(text) !== index)).toEqual([]);
  const all = Object.values(methods.clientRequests);
  expect(all.flatMap((row) => row.errors ?? []).filter((code) => !(code in errors.codes))).toEqual(
    [],
  );
  expect(
    all
      .flatMap((row) => row.notifications ?? [])
      .filter((method) => !(method in methods.serverNotifications)),
  ).toEqual([]);
  const texts = [...Object.values(errors.codes), ...Object.values(errors.turnErrors)].flatMap(
    ({ meaning, advice }) => [meaning, advice ?? meaning],
  );
  expect(
    texts.filter((text) => !/^[A-Z`].*\.$/s.test(text) && !/^(?:heddle|ripgrep) .*\.$/.test(text)),
  ).toEqual([]);
});

test('docs/clients.md and docs/approvals.md name every request of the server, and no other', () => {
  const requests = Object.keys(methods.serverRequests).sort();
  const listed = codeIn(section('docs/clients.md', 'Requests of the server')).filter((code) =>
    /^(item|mcpServer)\//.test(code),
  );
  expect([...new Set(listed)].sort()).toEqual(requests);
  const rows = section('docs/approvals.md', 'What is asked, what can be answered')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const table = rows.map((row) => codeIn(row.split('|')[1] ?? '')[0]);
  expect(table.filter((name) => name?.includes('/')).sort()).toEqual(requests);
});

test("docs/configuration/projects.md lists every key that a project's config.toml can set, and no other", () => {
  const rows = section('docs/configuration/projects.md', 'What a project can set')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const found = rows.flatMap((row) => codeIn(row.split('|')[1] ?? ''));
  expect(found.sort()).toEqual([...PROJECT_SETTING_NAMES].sort());
});

test('the times in README.md are those of docs/performance.md', () => {
  const medianOf = (row: string) =>
    Math.round(
      Number(
        new RegExp(`\\| ${row} +\\| ms +\\| ([\\d.]+)`).exec(textOf('docs/performance.md'))?.[1],
      ),
    );
  const start = 'second start in a home: spawn →';
  expect(textOf('README.md')).toContain(
    `\`initialize\` is answered after ${medianOf(`${start} initialize`)} ms, the first turn ends after ${medianOf(`${start} turn/completed`)} ms`,
  );
  expect(textOf('README.md')).toContain(`heddle adds ${medianOf('later turns, p50')} ms to a turn`);
});

test('the pages on performance name the workloads of the bench, their repetitions, and loads that are measured', () => {
  const text = textOf('docs/performance.md');
  const [, named = ''] = /runs one workload: ([^.]*)\./.exec(text) ?? [];
  expect(codeIn(named)).toEqual(workloads.map(({ name }) => name));
  const [, most = '', others = ''] = /Medians of (\d+) repetitions \((.*?)\)/.exec(text) ?? [];
  const repetitions = workloads.filter(({ repetitions: { whole } }) => whole !== Number(most));
  expect(others).toBe(
    repetitions.map(({ name, repetitions: { whole } }) => `${whole} for \`${name}\``).join(', '),
  );
  const [loads = ''] = textOf('docs/performance/waiting.md').split('\n## ');
  const rows = [...loads.matchAll(/^\| (\w.*?) +\| [\d.]+ /gm)];
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.map(([, name = '']) => name).filter((name) => !(name in LOADS))).toEqual([
    'resume after a start',
  ]);
});

/** The names in code in the first cells of a table's rows. */
function firstCells(page: string, heading: string, head: string): string[] {
  const text = section(page, heading);
  const start = text.indexOf(`| ${head} |`);
  expect(start).not.toBe(-1);
  const [table = ''] = text.slice(start).split('\n\n');
  return table
    .split('\n')
    .slice(2)
    .flatMap((row) => codeIn(row.split(' | ')[0] ?? ''));
}

test('the pages have every setting that heddle uses', () => {
  const pages: Record<string, string> = {
    agents: 'docs/agents.md',
    mcp_safety_check: 'docs/mcp/approvals.md',
    shell_environment_policy: 'docs/configuration/environment.md',
    features: 'docs/configuration/features.md',
  };
  /** Their keys stand without the table in a section of their own. */
  const apart = ['agents', 'features', 'mcp_safety_check', 'shell_environment_policy'];
  const missing = SETTING_NAMES.filter((name) => {
    const [table = '', ...rest] = name.split('.');
    const names = [name, `[[${name}]]`, ...(apart.includes(table) ? [rest.join('.')] : [])];
    const codes = codeIn(textOf(pages[table] ?? 'docs/configuration.md'));
    return !names.some((written) => codes.includes(written));
  });
  expect(missing).toEqual([]);
});

test('docs/configuration/features.md lists the features that heddle has, and no other', () => {
  const listed = firstCells('docs/configuration/features.md', 'Features', 'key of `[features]`');
  expect([...new Set(listed)].sort()).toEqual(FEATURE_LIST.map(({ name }) => name).sort());
});

test('docs/configuration/model-providers.md lists the keys of a provider', () => {
  const known = KNOWN_TABLES.find(({ path }) => path.join('.') === 'model_providers.*');
  const used = known?.keys.filter((key) => !UNSERVED_PROVIDER_KEYS.has(key)) ?? [];
  const listed = codeIn(section('docs/configuration/model-providers.md', 'Keys of a provider'));
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter((key) => !listed.includes(key))).toEqual([]);
});

test('docs/configuration/requirements.md lists the limits that heddle enforces, and no other', () => {
  const limits = [
    ...Object.keys(REQUIREMENT_LISTS),
    'features.NAME',
    ...DENIED_KEYS.map((key) => `permissions.filesystem.${key}`),
  ];
  expect(firstCells('docs/configuration/requirements.md', 'The files', 'key')).toEqual(limits);
});

test('docs/hooks/events.md lists the events of hooks, and no other', () => {
  expect(firstCells('docs/hooks/events.md', 'Events of hooks', 'event').sort()).toEqual(
    HOOK_EVENTS.map(({ label }) => label).sort(),
  );
});

test('docs/clients.md has the limits of the handshake', () => {
  const [, limits = ''] = /\| `limits` \| (.*) \|/.exec(textOf('docs/clients.md')) ?? [];
  const number = (value: number) => value.toLocaleString('en');
  expect(limits).toContain(`(${LINE_BYTES_MAX / 1024 / 1024} MiB)`);
  expect(limits).toContain(`(${number(REQUESTS_IN_FLIGHT_MAX)})`);
  expect(limits).toContain(`(${number(INPUT_CHARS_MAX)})`);
});

test('README.md has the versions of the clients that npm run test:clients runs', () => {
  const rows = section('README.md', 'From your editor')
    .split('\n')
    .filter((line) => line.startsWith('| ['));
  const packages = textOf('test/clients/run.js');
  expect(rows.length).toBeGreaterThan(2);
  const unknown = rows.filter((row) => {
    const [, name = ''] = /npmjs\.com\/package\/([^)]+)\)/.exec(row) ?? [];
    const version = row.split(' | ')[1];
    return !packages.includes(`'${name}@${version}'`);
  });
  expect(unknown).toEqual([]);
});

/** The value of a number that a file of the source defines by a literal product. */
function constantIn(path: string, name: string): number {
  const [, product = ''] = new RegExp(`const ${name} = ([\\d_ *]+);`).exec(textOf(path)) ?? [];
  expect([path, name, product]).not.toEqual([path, name, '']);
  return product
    .split('*')
    .reduce((value, factor) => value * Number(factor.trim().replaceAll('_', '')), 1);
}

const LIMITS: [
  what: string,
  path: string,
  name: string,
  unit: 'MiB' | 'KiB' | 'Mi characters' | 'characters' | 'min' | 's' | '',
][] = [
  ['a message of a client', 'src/protocol/line-bytes-max.ts', 'LINE_BYTES_MAX', 'MiB'],
  [
    'requests of a client that wait for answers',
    'src/transport/json-reader.ts',
    'REQUESTS_IN_FLIGHT_MAX',
    '',
  ],
  ['the input of a turn', 'src/agent/prompt/check-input.ts', 'INPUT_CHARS_MAX', 'characters'],
  [
    'a response with a whole history',
    'src/handlers/history/history-answers.ts',
    'ANSWER_BYTES_MAX',
    'MiB',
  ],
  ['a page of turns or items', 'src/handlers/history/history-answers.ts', 'PAGE_BYTES_MAX', 'MiB'],
  ['the name of a thread', 'src/store/thread-record.ts', 'NAME_CHARS_MAX', 'characters'],
  [
    'the time that a thread stays loaded without a client',
    'src/agent/threads/thread-unloader.ts',
    'IDLE_MS_MAX',
    'min',
  ],
  [
    'calls of one response that run at a time',
    'src/agent/calls/response-calls.ts',
    'PARALLEL_CALLS_MAX',
    '',
  ],
  [
    'commands of a thread that run at a time',
    'src/tools/command/sessions/command-sessions.ts',
    'SESSIONS_MAX',
    '',
  ],
  [
    'programs of `command/exec` and `process/spawn` of a client',
    'src/handlers/client-processes/client-processes.ts',
    'PROCESSES_MAX',
    '',
  ],
  ['watches of `fs/watch` of a client', 'src/files/file-watches.ts', 'WATCHES_MAX', ''],
  ['an image', 'src/model/pictures/image-type.ts', 'IMAGE_BYTES_MAX', 'MiB'],
  [
    "an event of a model's stream",
    'src/model/http/response/event-reader.ts',
    'EVENT_CHARS_MAX',
    'Mi characters',
  ],
  [
    'an answer of a model',
    'src/model/http/response/event-reader.ts',
    'STREAM_CHARS_MAX',
    'Mi characters',
  ],
  ['a `config.toml`', 'src/config/layers/layer.ts', 'CONFIG_BYTES_MAX', 'KiB'],
  ['hooks of one file', 'src/config/hooks/parse-hooks.ts', 'HOOKS_MAX', ''],
  ['MCP servers', 'src/config/mcp/read-mcp-servers.ts', 'SERVERS_MAX', ''],
  ['a message of an MCP server', 'src/mcp/host/pipe-transport.ts', 'MESSAGE_BYTES_MAX', 'MiB'],
  ['the wire log', 'src/cli/log/wire-log.ts', 'FILE_BYTES_MAX', 'MiB'],
  ['the end of a server', 'src/agent/closing-programs.ts', 'CLOSE_MS_MAX', 's'],
];
const UNITS = {
  MiB: 1024 ** 2,
  KiB: 1024,
  'Mi characters': 1024 ** 2,
  characters: 1,
  min: 60_000,
  s: 1000,
  '': 1,
};

test('the limits in docs/operating.md are those of the code', () => {
  const rows = section('docs/operating.md', 'Limits')
    .split('\n')
    .filter((line) => /^\| (?!what |---)/.test(line) && !line.startsWith('|---'));
  const listed = rows.map((row) => row.split(' | ').slice(0, 2).join(' | ').replace(/^\| /, ''));
  const inCode = LIMITS.map(([what, path, name, unit]) => {
    const value = (constantIn(path, name) / UNITS[unit]).toLocaleString('en');
    return `${what} | ${value}${unit === '' ? '' : ` ${unit}`}`;
  });
  expect(listed).toEqual(inCode);
});

test('docs/operating.md has the places and the user of the image', () => {
  const image =
    textOf('Dockerfile')
      .split(/^FROM .*\n/m)
      .at(-1) ?? '';
  const text = section('docs/operating.md', 'In a container');
  const folders = [...image.matchAll(/^WORKDIR (.*)$/gm)].map(([, folder]) => folder);
  const [, home] = /HEDDLE_HOME=(\S+)/.exec(image) ?? [];
  expect(text).toContain(
    `The server is in \`${folders[0]}\`, the project in\n\`${folders.at(-1)}\`, the home in \`${home}\`.`,
  );
  expect(image).toContain(`VOLUME ${home}\nUSER node\n`);
  expect(image).toContain('ENTRYPOINT ["heddle"]\nCMD ["app-server"]');
  expect(text).toContain(
    "The image's entry point is `heddle`, and its default command `app-server`",
  );
  expect(text).toContain(`-v "$PWD/config.toml:${home}/config.toml:ro"`);
});
