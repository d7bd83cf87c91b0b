import { expect, test } from 'vitest';
import { PROJECT_SETTING_NAMES } from '../../src/config/layers/with-project-settings.ts';
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
