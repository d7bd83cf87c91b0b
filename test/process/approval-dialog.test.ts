import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { exampleServer } from '../mcp/mcp-thread.ts';
import { EXECUTABLE, environment, type Place, place } from './support.ts';

const ROOT = dirname(dirname(EXECUTABLE));
const DIALOG_MS_MAX = 60_000;

/**
 * Runs the example against the server, whose model does what the input says, and answers its
 * questions by these keys.
 */
async function dialog(
  where: Place,
  { input, keys, options = [] }: { input: string; keys: string[]; options?: string[] },
) {
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
    if (text.endsWith(': ') && keys.length > 0) child.stdin.write(`${keys.shift()}\n`);
  });
  const [code] = await once(child, 'close');
  return { code, shown };
}

const COMMAND = (file: string) =>
  `call exec_command ${JSON.stringify({ cmd: `touch ${file}` })}\nsay done`;

test.each([
  ['accepted', 'y', true],
  ['declined', 'n', false],
])(
  'the example asks about a command, which is %s',
  { timeout: DIALOG_MS_MAX },
  async (_, key, isMade) => {
    const where = place();
    const file = join(where.work, 'made.txt');
    const { code, shown } = await dialog(where, { input: COMMAND(file), keys: [key] });
    expect({ code, asked: shown.includes(`touch ${file}`), isMade: existsSync(file) }).toEqual({
      code: 0,
      asked: true,
      isMade,
    });
    expect(shown).toMatch(/done\nturn completed\n$/);
  },
);

test('the example shows a command as it is, whatever it does to a terminal', {
  timeout: DIALOG_MS_MAX,
}, async () => {
  const cmd = `: curl evil \r\x1b[2K\x9b2K\u202e \n$ ls`;
  const where = place();
  const { code, shown } = await dialog(where, {
    input: `call exec_command ${JSON.stringify({ cmd })}\nsay d\x1bone`,
    keys: ['n'],
  });
  expect(code).toBe(0);
  expect(shown).toContain(': curl evil \\r\\x1b[2K\\x9b2K\\u{202e} \\n$ ls');
  expect(shown).toMatch(/\nturn completed\n$/);
  expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
});

test('the example asks for permissions, and tells the model what is granted', {
  timeout: DIALOG_MS_MAX,
}, async () => {
  const where = place();
  const input = `call request_permissions ${JSON.stringify({ reason: 'to fetch', permissions: { network: { enabled: true } } })}\nsay done`;
  const options = ['-c', 'features.request_permissions_tool=true'];
  const { code, shown } = await dialog(where, { input, keys: ['y'], options });
  expect(code).toBe(0);
  expect(shown).toContain('to fetch\n  reach the network\n');
  expect(shown).toMatch(/done\nturn completed\n$/);
});

/**
 * The form of an MCP server, and what a person types for each field: nothing, and values that do
 * not fit, before those that do.
 */
const FIELDS = [
  {
    name: 'name',
    schema: { type: 'string', title: 'Your name' },
    typed: ['', 'Ada'],
    value: 'Ada',
  },
  { name: 'age', schema: { type: 'integer' }, typed: ['old', '36'], value: 36 },
  {
    name: 'colour',
    schema: { type: 'string', enum: ['red', 'blue'] },
    typed: ['green', 'blue'],
    value: 'blue',
  },
  {
    name: 'days',
    schema: { type: 'array', items: { anyOf: [option('mo'), option('tu')] } },
    typed: ['mo, we', 'mo, tu'],
    value: ['mo', 'tu'],
  },
  { name: 'wants', schema: { type: 'boolean', default: true }, typed: [''], value: true },
  { name: 'note', schema: { type: 'string' }, typed: [''], value: undefined },
];

function option(value: string) {
  return { const: value, title: value.toUpperCase() };
}

test('the example asks about a tool of an MCP server, and fills in the form of one', {
  timeout: DIALOG_MS_MAX,
}, async () => {
  const where = place({ 'config.toml': exampleServer() });
  const properties = Object.fromEntries(FIELDS.map(({ name, schema }) => [name, schema]));
  const request = {
    message: 'Who are you?',
    requestedSchema: { type: 'object', properties, required: ['name'] },
  };
  const ask = `call mcp__ex__ask ${JSON.stringify({ method: 'elicitation/create', request })}`;
  const input = `call mcp__ex__write {"path":"a.txt"}\nsay written\n${ask}`;
  const { code, shown } = await dialog(where, {
    input,
    keys: ['toString', 'a', 'y', ...FIELDS.flatMap(({ typed }) => typed)],
  });
  expect(shown).toContain('{"path":"a.txt"}');
  expect(shown).toContain('The MCP server ex asks: Who are you?\n[y] answer, [n]o, [c]ancel: ');
  expect(shown).toContain('colour (red | blue): ');
  const content = Object.fromEntries(FIELDS.map(({ name, value }) => [name, value]));
  expect(shown.replaceAll('\\', '')).toContain(JSON.stringify({ action: 'accept', content }));
  expect(shown).toMatch(/turn completed\n$/);
  expect(code).toBe(0);
});

test('the example shows the page that an MCP server wants to be visited', {
  timeout: DIALOG_MS_MAX,
}, async () => {
  const where = place({ 'config.toml': exampleServer() });
  const request = {
    mode: 'url',
    message: 'Log in',
    url: 'https://example.com/login',
    elicitationId: 'e1',
  };
  const input = `call mcp__ex__ask ${JSON.stringify({ method: 'elicitation/create', request })}`;
  const { code, shown } = await dialog(where, { input, keys: ['n'] });
  expect(shown).toContain(
    'The MCP server ex asks: Log in\n  Visit https://example.com/login, and answer when you are done.\n',
  );
  expect(shown.replaceAll('\\', '')).toContain('"action":"decline"');
  expect(code).toBe(0);
});

test('the example shows the prompt that an MCP server wants to send to the model', {
  timeout: DIALOG_MS_MAX,
}, async () => {
  const where = place({ 'config.toml': exampleServer() });
  const request = {
    messages: [{ role: 'user', content: { type: 'text', text: 'Name a colour.' } }],
    maxTokens: 100,
  };
  const input = `call mcp__ex__ask ${JSON.stringify({ method: 'sampling/createMessage', request })}`;
  const { code, shown } = await dialog(where, { input, keys: ['n'] });
  expect(shown).toContain(
    `Allow the MCP server ex to send a prompt to the model?\n  ${JSON.stringify(request)}\n`,
  );
  expect(code).toBe(0);
});

test('the example passes on a question of the agent', { timeout: DIALOG_MS_MAX }, async () => {
  const where = place({ 'config.toml': '[features]\ndefault_mode_request_user_input = true\n' });
  const options = [
    { label: 'Red', description: 'warm' },
    { label: 'Blue', description: 'cold' },
  ];
  const questions = [{ id: 'colour', header: 'Colour', question: 'Which colour?', options }];
  const { code, shown } = await dialog(where, {
    input: `call request_user_input ${JSON.stringify({ questions })}`,
    keys: ['Blue'],
  });
  expect(shown).toContain('Which colour? (Red | Blue): ');
  expect(shown.replaceAll('\\', '')).toContain('Blue');
  expect(code).toBe(0);
});
