import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleDefinitions, readErrorTable, readMethodTable } from '../../schema/bundle.ts';
import { generateErrorsPage } from '../../schema/generate-errors-page.ts';
import { generateMethodsPage } from '../../schema/generate-methods-page.ts';
import { INPUT_CHARS_MAX } from '../../src/agent/prompt/check-input.ts';
import { LINE_BYTES_MAX } from '../../src/base/text/line-splitter.ts';
import { FEATURE_LIST } from '../../src/config/features/feature-list.ts';
import { HOOK_EVENTS } from '../../src/config/hooks/hook-events.ts';
import { KNOWN_TABLES, UNSERVED_PROVIDER_KEYS } from '../../src/config/keys/known-tables.ts';
import { PROJECT_SETTING_NAMES } from '../../src/config/layers/with-project-settings.ts';
import { SETTING_NAMES } from '../../src/config/settings.ts';
import { REQUESTS_IN_FLIGHT_MAX } from '../../src/transport/json-reader.ts';
import { workloads } from '../bench/workloads.ts';
import { LOADS } from '../process/hostile/busy-loads.ts';
import { codeIn, ROOT, section, sourceFiles, textOf } from './pages.ts';

const schemaFolder = join(ROOT, 'schema');
const definitions = bundleDefinitions(schemaFolder);
const methods = readMethodTable(schemaFolder);
const errors = readErrorTable(schemaFolder);
/** All requests and notifications, of both sides. */
const rows = Object.values(methods).flatMap((table: Record<string, { description: string; result?: string }>) => Object.entries(table));

/** The words in quotes in files of the source, without the schema's own names in generated files. */
function wordsIn(paths: readonly string[]): Set<string> {
  return new Set(
    paths.flatMap((path) => [...textOf(path).matchAll(/'([A-Za-z_]+)'|(?<![\w'])([a-zA-Z]+)(?=: )/g)].map(([, a, b]) => a ?? b ?? '')),
  );
}

test('the errors of schema/errors.json are those that the source uses: the compiler refuses any other', () => {
  const words = wordsIn(sourceFiles());
  expect(Object.keys(errors.codes).filter((code) => !words.has(code))).toEqual([]);
  const kinds = definitions.CodexErrorInfo?.anyOf?.flatMap(({ enum: words = [], required = [] }) => [...words, ...required]);
  expect(Object.keys(errors.turnErrors).sort()).toEqual(kinds?.sort());
});

test('only imported rollouts and scripts have the kinds of failures for which docs/errors.md has no advice', () => {
  const ofTurns = wordsIn(sourceFiles().filter((path) => !/^src\/(?:rollout|model\/script)\//.test(path)));
  const kinds = Object.entries(errors.turnErrors);
  expect(kinds.flatMap(([kind, { advice }]) => (advice === undefined && ofTurns.has(kind) ? [kind] : []))).toEqual([]);
  expect(kinds.flatMap(([kind, { advice }]) => (advice !== undefined && !ofTurns.has(kind) ? [kind] : []))).toEqual([]);
});

test('docs/errors.md and docs/methods.md are generated from the schema, and have every error and every method once', () => {
  const [errorsPage, methodsPage] = [textOf('docs/errors.md'), textOf('docs/methods.md')];
  expect([errorsPage, methodsPage]).toEqual([generateErrorsPage(errors), generateMethodsPage(definitions, { methods, errors })]);
  const cells = [...errorsPage.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);
  expect([...cells].sort()).toEqual([...Object.keys(errors.codes), ...Object.keys(errors.turnErrors)].sort());
  const headings = [...methodsPage.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading);
  const firstCells = [...methodsPage.matchAll(/^\| (`.*?`) \| /gm)].flatMap(([, cell = '']) => codeIn(cell));
  expect([...headings, ...firstCells].sort()).toEqual(rows.map(([method]) => method).sort());
});

test('every method has a sentence of its own, and names only errors and notifications that exist', () => {
  const isText = (text: string) => /^[A-Za-z].*[^.]\.$/.test(text) && text === text.trim();
  expect(rows.filter(([, { description }]) => !isText(description))).toEqual([]);
  const served = rows.flatMap(([, row]) => ('stability' in row && row.result === undefined ? [] : [row.description]));
  expect(served.filter((text, index) => served.indexOf(text) !== index)).toEqual([]);
  const all = Object.values(methods.clientRequests);
  expect(all.flatMap((row) => row.errors ?? []).filter((code) => !(code in errors.codes))).toEqual([]);
  expect(all.flatMap((row) => row.notifications ?? []).filter((method) => !(method in methods.serverNotifications))).toEqual([]);
  const texts = [...Object.values(errors.codes), ...Object.values(errors.turnErrors)].flatMap(({ meaning, advice }) => [
    meaning,
    advice ?? meaning,
  ]);
  expect(texts.filter((text) => !/^[A-Z`].*\.$/s.test(text) && !/^(?:heddle|ripgrep) .*\.$/.test(text))).toEqual([]);
});

test('docs/clients.md and docs/approvals.md name every request of the server, and no other', () => {
  const requests = Object.keys(methods.serverRequests).sort();
  const listed = codeIn(section('docs/clients.md', 'Requests of the server')).filter((code) => /^(item|mcpServer)\//.test(code));
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
    Math.round(Number(new RegExp(`\\| ${row} +\\| ms +\\| ([\\d.]+)`).exec(textOf('docs/performance.md'))?.[1]));
  const start = 'second start in a home: spawn →';
  expect(textOf('README.md')).toContain(
    `\`initialize\` is answered after ${medianOf(`${start} initialize`)} ms, the first turn ends after ${medianOf(`${start} turn/completed`)} ms`,
  );
  expect(textOf('README.md')).toContain(`heddle adds ${medianOf('later turns, p50')} ms to a turn`);
});

test('docs/performance.md names the workloads of the bench, their repetitions, and loads that are measured', () => {
  const text = textOf('docs/performance.md');
  const [, named = ''] = /runs one workload: ([^.]*)\./.exec(text) ?? [];
  expect(codeIn(named)).toEqual(workloads.map(({ name }) => name));
  const [, most = '', others = ''] = /Medians of (\d+) repetitions \((.*?)\)/.exec(text) ?? [];
  const repetitions = workloads.filter(({ repetitions: { whole } }) => whole !== Number(most));
  expect(others).toBe(repetitions.map(({ name, repetitions: { whole } }) => `${whole} for \`${name}\``).join(', '));
  const rows = [...section('docs/performance.md', 'How long other requests wait').matchAll(/^\| (\w.*?) +\| [\d.]+ /gm)];
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.map(([, name = '']) => name).filter((name) => !(name in LOADS))).toEqual(['resume after a start']);
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
    mcp_safety_check: 'docs/mcp.md',
    shell_environment_policy: 'docs/configuration/environment.md',
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

test('docs/configuration.md lists the features that heddle has, and no other', () => {
  const listed = firstCells('docs/configuration.md', 'Settings', 'key of `[features]`');
  expect([...new Set(listed)].sort()).toEqual(FEATURE_LIST.map(({ name }) => name).sort());
});

test('docs/configuration/model-providers.md lists the keys of a provider', () => {
  const known = KNOWN_TABLES.find(({ path }) => path.join('.') === 'model_providers.*');
  const used = known?.keys.filter((key) => !UNSERVED_PROVIDER_KEYS.has(key)) ?? [];
  const listed = codeIn(section('docs/configuration/model-providers.md', 'Keys of a provider'));
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter((key) => !listed.includes(key))).toEqual([]);
});

test('docs/hooks.md lists the events of hooks, and no other', () => {
  expect(firstCells('docs/hooks.md', 'Events', 'event').sort()).toEqual(HOOK_EVENTS.map(({ label }) => label).sort());
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
