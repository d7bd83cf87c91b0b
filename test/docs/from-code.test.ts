import { expect, test } from 'vitest';
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
import { codeIn, section, sourceFiles, textOf } from './pages.ts';

const methods = JSON.parse(textOf('schema/methods.json')) as { serverRequests: Record<string, unknown> };

/** The values of `error.data.code` in the source. */
function errorCodes(): string[] {
  const calls = /\b(?:refused|fileRefused|fileFailed|emptyField)\(\s*'([a-z_]+)'/g;
  const codes = sourceFiles().flatMap((path) => {
    const text = textOf(path);
    const given = [...text.matchAll(calls)];
    const internal = [...text.matchAll(/\b(?:internal|new RpcError)\([^;]*?\bcode: '([a-z_]+)'/g)];
    const named = path.startsWith('src/protocol/') ? [...text.matchAll(/\bcode: '([a-z_]+)'/g)] : [];
    const map = /\b(?:KNOWN|CONFIG_WRITE_CODES|type StoreErrorCode)\b[^;]*?;/s.exec(text)?.[0] ?? '';
    const isMap = /(?:file-failure|config-write-refused|store-error)\.ts$/.test(path);
    const listed = isMap ? [...map.matchAll(/(?:\[|\| |: )'([a-z_]+)'/g)] : [];
    return [...given, ...internal, ...named, ...listed].map(([, code = '']) => code);
  });
  return [...new Set(codes)].sort();
}

test('the type of the codes has those that errors have, and no other', () => {
  const type = textOf('src/protocol/error-code.ts');
  expect([...type.matchAll(/^ {2}\| '([a-z_]+)'/gm)].map(([, code = '']) => code)).toEqual(errorCodes());
});

test('docs/clients.md lists every code of an error, and no other', () => {
  const codes = errorCodes();
  expect(codes.length).toBeGreaterThan(100);
  const rows = section('docs/clients.md', 'Errors')
    .split('\n')
    .filter((line) => line.startsWith('|'));
  const listed = rows.flatMap((row) => codeIn(row.split('|')[2] ?? '')).filter((word) => word !== 'error.data.code');
  expect([...new Set(listed)].sort()).toEqual(codes);
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

test("docs/configuration.md lists every key that a project's config.toml can set, and no other", () => {
  const rows = section('docs/configuration.md', 'What a project can set')
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
  const pages: Record<string, string> = { agents: 'docs/agents.md', mcp_safety_check: 'docs/mcp.md' };
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

test('docs/configuration.md lists the keys of a provider', () => {
  const known = KNOWN_TABLES.find(({ path }) => path.join('.') === 'model_providers.*');
  const used = known?.keys.filter((key) => !UNSERVED_PROVIDER_KEYS.has(key)) ?? [];
  const listed = codeIn(section('docs/configuration.md', 'Model providers'));
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
