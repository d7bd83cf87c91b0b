// @module-tag slow
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { generateTs } from '../../../src/cli/generate/generate-ts.ts';
import { tempFolder, writeFiles } from '../../config/temp-folder.ts';

const root = dirname(dirname(dirname(import.meta.dirname)));
const schemaDir = join(root, 'schema');
const STRICT = [
  '--strict',
  '--noEmit',
  '--noUnusedLocals',
  '--verbatimModuleSyntax',
  '--isolatedModules',
  '--exactOptionalPropertyTypes',
];
const NODE = ['--module', 'nodenext', '--target', 'es2023'];
const BUNDLER = ['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2023'];

/** A new folder with the types in `types/`, and with the other files given. */
function generated({
  experimental = false,
  files = {},
}: {
  experimental?: boolean;
  files?: Record<string, string>;
} = {}): string {
  const folder = tempFolder({ 'package.json': '{"type":"module"}', ...files });
  generateTs({ schemaDir, outDir: join(folder, 'types'), experimental });
  return folder;
}

/** The compiler's messages about files of the folder. */
function complaints(folder: string, files: string[], options: string[]): string {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, ...STRICT, ...options, '--types', '', '--ignoreConfig', ...files];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
  });
  return stdout === '' && status !== 0 ? `tsc failed: ${stderr}` : stdout;
}

function typeFiles(folder: string): string[] {
  return readdirSync(join(folder, 'types'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
}

describe('generate-ts', () => {
  test.each([
    ['as Node resolves modules', NODE, false],
    ['as Node resolves modules, experimental API and all', NODE, true],
    ['as bundlers resolve modules', BUNDLER, false],
  ])('all files type-check by themselves: %s', (_name, options, experimental) => {
    const folder = generated({ experimental });
    const files = typeFiles(folder).map((path) => join('types', path));
    expect(files.length).toBeGreaterThan(100);
    expect(complaints(folder, files, options)).toBe('');
  });

  test('the types are those of the server', () => {
    const folder = generated({ experimental: true });
    const made = readFileSync(join(root, 'src/protocol/generated/types.ts'), 'utf8');
    writeFiles(folder, { 'made.ts': made });
    const maps = ['ClientRequests', 'ServerRequests', 'ServerNotifications'];
    const names = typeFiles(folder).map((path) => path.replace(/^v2\/|\.ts$/g, ''));
    const both = names.filter(
      (name) =>
        new RegExp(`^export (type|interface) ${name}\\b`, 'm').test(made) && !maps.includes(name),
    );
    expect(both.length).toBeGreaterThan(200);
    const compared = both.map(
      (name) => `export const ${name}: Same<Given.${name}, Made.${name}> = true;\n`,
    );
    writeFiles(folder, {
      'compare.ts': `import type * as Given from './types/index.js';
import type * as Made from './made.js';
type Same<X, Y> = [X] extends [Y] ? ([Y] extends [X] ? true : 'lacks something') : 'has too much';
${compared.join('')}`,
    });
    expect(complaints(folder, ['compare.ts'], NODE)).toBe('');
  });

  test('the types check a client, by whichever path it imports them', () => {
    const files = {
      'right.ts': `import type { ClientRequest, ClientRequests, ServerNotification, v2 } from './types/index.js';
import type { Thread } from './types/v2/index.js';
import type { UserInput } from './types/v2/UserInput.js';
const input: UserInput = { type: 'text', text: 'hi' };
export const request: ClientRequest = { id: 1, method: 'turn/start', params: { threadId: 'x', input: [input] } };
export const params: v2.ThreadStartParams = { cwd: '/x' };
export function thread(answer: ClientRequests['thread/read']['result']): Thread {
  return answer.thread;
}
export function told(message: ServerNotification): string {
  return message.method === 'item/agentMessage/delta' ? message.params.delta : message.method;
}
`,
      'wrong.ts': `import type { ClientRequest } from './types/index.js';
export const request: ClientRequest = { id: 1, method: 'turn/start', params: { threadId: 'x' } };
`,
      'experimental.ts': `import type { v2 } from './types/index.js';
export const params: v2.TurnStartParams = { threadId: 'x', input: [], collaborationMode: null };
`,
    };
    const folder = generated({ files });
    const lines = complaints(folder, Object.keys(files), NODE).split('\n');
    expect(lines.filter((line) => /^\S/.test(line))).toEqual([
      expect.stringMatching(/^experimental\.ts\(2,.*'collaborationMode' does not exist/),
      expect.stringMatching(/^wrong\.ts\(2,/),
    ]);
    expect(lines.join('\n')).toContain("Property 'input' is missing");
  });
});
