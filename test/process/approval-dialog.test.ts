import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { EXECUTABLE, environment, type Place, place } from './support.ts';

const ROOT = dirname(dirname(EXECUTABLE));
const DIALOG_MS_MAX = 60_000;

/** Runs the example against the server, whose model does what the input says, and answers its questions by these keys. */
async function dialog(where: Place, { input, keys, options = [] }: { input: string; keys: string[]; options?: string[] }) {
  const example = ['--import', 'tsx', join(ROOT, 'examples', 'approval-dialog.ts'), input];
  const server = [process.execPath, EXECUTABLE, '-s', 'danger-full-access', ...options];
  const child = spawn(process.execPath, [...example, ...server], {
    cwd: ROOT,
    env: environment(where),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (text.includes('[c]ancel the turn: ') && keys.length > 0) child.stdin.write(`${keys.shift()}\n`);
  });
  const [code] = await once(child, 'close');
  return { code, shown };
}

const COMMAND = (file: string) => `call exec_command ${JSON.stringify({ cmd: `touch ${file}` })}\nsay done`;

test.each([
  ['accepted', 'y', true],
  ['declined', 'n', false],
])('the example asks about a command, which is %s', { timeout: DIALOG_MS_MAX }, async (_, key, isMade) => {
  const where = place();
  const file = join(where.work, 'made.txt');
  const { code, shown } = await dialog(where, { input: COMMAND(file), keys: [key] });
  expect({ code, asked: shown.includes(`touch ${file}`), isMade: existsSync(file) }).toEqual({ code: 0, asked: true, isMade });
  expect(shown).toMatch(/done\nturn completed\n$/);
});

test('the example shows a command as it is, whatever it does to a terminal', { timeout: DIALOG_MS_MAX }, async () => {
  const cmd = `: curl evil \r\x1b[2K\x9b2K\u202e \n$ ls`;
  const where = place();
  const { code, shown } = await dialog(where, { input: `call exec_command ${JSON.stringify({ cmd })}\nsay d\x1bone`, keys: ['n'] });
  expect(code).toBe(0);
  expect(shown).toContain(': curl evil \\r\\x1b[2K\\x9b2K\\u{202e} \\n$ ls');
  expect(shown).toMatch(/\nturn completed\n$/);
  expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
});

test('the example asks for permissions, and tells the model what is granted', { timeout: DIALOG_MS_MAX }, async () => {
  const where = place();
  const input = `call request_permissions ${JSON.stringify({ reason: 'to fetch', permissions: { network: { enabled: true } } })}\nsay done`;
  const options = ['-c', 'features.request_permissions_tool=true'];
  const { code, shown } = await dialog(where, { input, keys: ['y'], options });
  expect(code).toBe(0);
  expect(shown).toContain('to fetch\n  reach the network\n');
  expect(shown).toMatch(/done\nturn completed\n$/);
});
