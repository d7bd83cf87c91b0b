import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { parseCommandLine } from '../../src/cli/command-line/parse-command-line.ts';
import { generateTs } from '../../src/cli/generate/generate-ts.ts';
import { configWarnings } from '../../src/config/problems/config-warnings.ts';
import { sourcesIn } from '../config/load.ts';
import { tempFolder } from '../config/temp-folder.ts';
import {
  type Block,
  blocksOf,
  codeIn,
  PAGES,
  proseOf,
  ROOT,
  sourceFiles,
  textOf,
} from './pages.ts';

function problemOf(args: string[]): string {
  try {
    parseCommandLine(args);
    return '';
  } catch (error) {
    return String(error);
  }
}

/** What each language of a block is checked by, below or in another test. */
const LANGUAGES = [
  '',
  'console',
  'js',
  'json',
  'jsonl',
  'python',
  'sh',
  'terminal',
  'toml',
  'ts',
  'yaml',
];

const blocks = PAGES.flatMap(blocksOf);
const named = (language: string) =>
  blocks
    .filter((block) => block.language === language)
    .map((block): [string, Block] => [`${block.page}:${block.line}`, block]);
const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };

test('every block has a language that is checked, or none', () => {
  expect(blocks.filter(({ language }) => !LANGUAGES.includes(language))).toEqual([]);
});

test.each([...named('json'), ...named('jsonl')])('%s is JSON', (_place, { text }) => {
  const isLines = text.split('\n').every((line) => line === '' || /^\{.*\}$/.test(line));
  const parts = isLines ? text.trimEnd().split('\n') : text.trimEnd().split(/\n(?=\{)/);
  for (const part of parts) expect(() => JSON.parse(part), part).not.toThrow();
});

test.each(named('yaml'))('%s is YAML', (_place, { text }) => {
  expect(() => parseYaml(text) as unknown).not.toThrow();
});

test.each(named('toml'))('%s is a configuration without a warning', async (_place, { text }) => {
  const isRequirements = text.startsWith('allowed_');
  const files = isRequirements
    ? { 'requirements.toml': text }
    : { 'config.toml': text, 'refund.yaml': '- Hello.\n' };
  const home = tempFolder(files);
  const env = { OPENAI_API_KEY: 'k', WORK_API_KEY: 'k', DOCS_KEY: 'k' };
  const warnings = await configWarnings(
    sourcesIn(home, { env, ...(isRequirements ? { system: home } : {}) }),
  );
  expect(warnings.map(({ summary }) => summary)).toEqual([]);
});

/** What the blocks of TypeScript use without declaring it, because the text around them does. */
const CONTEXT: Record<string, string> = {
  log: 'declare const log: (text: string) => void;',
  Ajv: "import { Ajv } from 'ajv';",
  client: "import { spawnServer } from 'heddle/client'; const client = spawnServer();",
  thread: 'declare const thread: { id: string };',
  signal: 'declare const signal: AbortSignal;',
  show: 'declare const show: (item: object) => void;',
  home: 'declare const home: string;',
  model: "import type { Model } from 'heddle'; declare const model: Model;",
};

test('the blocks of TypeScript compile', { tags: 'slow' }, () => {
  // In the project, for its packages, but in no folder that other tests read.
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.cache', 'blocks-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  generateTs({ schemaDir: join(ROOT, 'schema'), outDir: join(folder, 'DIR'), experimental: false });
  const files = named('ts').map(([place, { text }]) => {
    const file = join(folder, `${place.replace(/\W/g, '-')}.ts`);
    const isDeclared = (name: string) =>
      new RegExp(`\\b(?:const|import) (?:\\w+ )?[^=;]*\\b${name}\\b[^;]*(?:=|from)`).test(text);
    const missing = Object.keys(CONTEXT).filter(
      (name) => new RegExp(`\\b${name}\\b`).test(text) && !isDeclared(name),
    );
    writeFileSync(
      file,
      `${missing.map((name) => CONTEXT[name]).join('\n')}\n${text}\nexport {};\n`,
    );
    return file;
  });
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', files, include: ['../../src/**/*.d.ts'] }),
  );
  const { stdout } = spawnSync(join(ROOT, 'node_modules', '.bin', 'tsc'), ['-p', folder], {
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
  expect(files.length).toBeGreaterThan(5);
});

describe('shell', () => {
  test.each(named('sh'))('%s is correct, and its commands exist', (_place, { text }) => {
    expect(spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
    const lines = text.split('\n').map((line) => line.replace(/\s+#.*$/, ''));
    const own = lines.flatMap((line) => /^heddle (.*)$/.exec(line)?.[1] ?? []);
    for (const line of own) expect(() => parseCommandLine(line.split(' ')), line).not.toThrow();
  });

  test('npm runs only scripts that exist', () => {
    const all = [
      ...PAGES.flatMap((page) => codeIn(proseOf(page))),
      ...named('sh').flatMap(([, { text }]) => text.split('\n')),
    ];
    const run = all.flatMap((code) => /^npm run (?:-s )?([\w:]{2,})/.exec(code)?.[1] ?? []);
    expect(run.length).toBeGreaterThan(10);
    expect(run.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  test('every command of heddle in a sentence is one that its command line takes', () => {
    const codes = PAGES.flatMap((page) => codeIn(proseOf(page)).map((code) => ({ page, code })));
    const own = codes.filter(
      ({ code }) =>
        /^heddle [a-z-]/.test(code) && !code.includes('COMMAND') && code.split(' ').length < 8,
    );
    expect(own.length).toBeGreaterThan(20);
    // Placeholders such as FILE are words, and a command may stand without its arguments.
    const refused = own.filter(({ code }) =>
      /unknown/.test(problemOf(code.split(' < ')[0]?.split(' ').slice(1) ?? [])),
    );
    expect(refused).toEqual([]);
  });
});

describe('links', () => {
  /** The anchors that a page has, as GitHub makes them of headings. */
  const anchors = (page: string) =>
    [
      ...textOf(page)
        .replace(/^```.*?^```$/gms, '')
        .matchAll(/^#+ (.*)$/gm),
    ].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    );

  test.each(PAGES)('of %s lead to files and headings that exist', (page) => {
    const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) =>
      target.replace(/\s+/g, ' '),
    );
    const relative = links.filter((target) => !/^https?:/.test(target));
    const broken = relative.filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : posix.join(dirname(page), path);
      return (
        !existsSync(join(ROOT, file)) || (anchor !== undefined && !anchors(file).includes(anchor))
      );
    });
    expect(broken).toEqual([]);
  });

  test('of docs/README.md lead to every other page', () => {
    const rows = textOf('docs/README.md')
      .split('\n')
      .filter((line) => line.startsWith('| '));
    const linked = rows.flatMap((row) =>
      [...row.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => posix.join('docs', target)),
    );
    const others = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
    expect([...new Set(linked)].sort()).toEqual([...others].sort());
  });
});

test('every message in docs/troubleshooting.md is in the source; `…` stands for what is filled in', () => {
  const source = sourceFiles().map(textOf).join('\n');
  const cells = textOf('docs/troubleshooting.md')
    .split('\n')
    .filter((line) => /^\| .*`/.test(line))
    .flatMap((line) => codeIn(line.split(' | ')[0] ?? ''));
  const messages = cells.filter((code) => /[ .]/.test(code) || code === 'Not initialized');
  expect(messages.length).toBeGreaterThan(35);
  const parts = messages.flatMap((message) =>
    message.split('…').map((part) => ({ message, part: part.trim() })),
  );
  expect(parts.filter(({ part }) => part.length > 1 && !source.includes(part))).toEqual([]);
});
