// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { scheduler } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkProvider } from '../../examples/demo/check-provider.ts';
import { DemoSession } from '../../examples/demo/demo-session.ts';
import { LANGUAGE_NOTE } from '../../examples/demo/demo-texts.ts';
import { ModelWatch } from '../../examples/demo/model-watch.ts';
import { readmePictures } from '../../examples/demo/readme-pictures.ts';
import { Screen } from '../../examples/demo/screen.ts';
import type { Turn } from '../../src/protocol/generated/types.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { neutralEnvironment } from './support.ts';

const root = join(import.meta.dirname, '..', '..');
const DEMO_MS_MAX = 60_000;
const DONE =
  'ok: checked the handshake, streaming, the history after a kill, resume, fork, a turn in each thread, a command, a patch, an approval, a guardian, an agent of an agent, the list, and the exit';

/**
 * Runs the demo without a terminal, its temporary files in a folder of its own. The key of the user
 * is not passed on.
 */
async function runDemo(args: string[], env: Record<string, string> = {}) {
  const others = neutralEnvironment();
  const folder = tempFolder();
  const child = spawn(process.execPath, ['--import', 'tsx', 'examples/demo.ts', ...args], {
    cwd: root,
    env: { ...others, TMPDIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: DEMO_MS_MAX,
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return {
    status: status as number | null,
    lastLine: stdout.trimEnd().split('\n').at(-1),
    stdout,
    stderr,
    left: readdirSync(folder).filter((name) => name.startsWith('heddle-')),
  };
}

/** A server in place of a provider. Returns its URL, and the requests that it gets. */
async function provider(answer: RequestListener): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  server.on('connection', () => asked.push('connection'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

test('the demo without git says what is missing and leaves nothing behind', async () => {
  const { status, stderr, left } = await runDemo([], { PATH: tempFolder() });
  const problem = '\nThe demo failed: git is not in the PATH: install it, and run the demo again\n';
  expect({ status, stderr, left }).toEqual({ status: 1, stderr: problem, left: [] });
});

test('the demo asks nobody but the embedded model, whatever keys and providers there are', {
  timeout: DEMO_MS_MAX,
}, async () => {
  const { url, asked } = await provider((_request, response) => response.end('{}'));
  const home = tempFolder({
    'config.toml': `model_provider = "work"\n[model_providers.work]\nbase_url = "${url}/v1"\n[model_providers.scripted]\nbase_url = "${url}/v1"\n`,
    'auth.json': JSON.stringify({ OPENAI_API_KEY: 'sk-stored' }),
  });
  mkdirSync(join(home, '.codex'));
  for (const name of ['config.toml', 'auth.json'])
    writeFileSync(join(home, '.codex', name), readFileSync(join(home, name)));
  const { status, lastLine, stdout, stderr, left } = await runDemo([], {
    OPENAI_API_KEY: 'sk-environment',
    OPENAI_BASE_URL: `${url}/v1`,
    CODEX_HOME: home,
    HEDDLE_HOME: home,
    HOME: home,
  });
  expect({ status, lastLine, stderr, left, asked }).toEqual({
    status: 0,
    lastLine: DONE,
    stderr: '',
    left: [],
    asked: [],
  });
  expect(stdout.split(LANGUAGE_NOTE).length, 'one sentence says it once').toBe(2);
});

test('the demo with --wire shows both directions, and deltas as one line', {
  timeout: DEMO_MS_MAX,
}, async () => {
  const { lastLine, stdout } = await runDemo(['--wire']);
  expect(lastLine).toBe(DONE);
  expect(stdout).toMatch(/^ +→ {"id":1,"method":"initialize"/m);
  expect(stdout).toMatch(/^ +← {"id":1,"result":{"userAgent"/m);
  expect(stdout).toMatch(/^ +← {"method":"item\/agentMessage\/delta", …} × 13$/m);
});

test('--help prints the options, and an unknown one is refused with one line', async () => {
  expect(await runDemo(['--help', '--wire'])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^ {2}--model NAME {2}/m),
    stderr: '',
    left: [],
  });
  const stderr =
    "demo: Unknown option '--wires'. Options: --wire, --model NAME, -c KEY=VALUE, --help\n";
  expect(await runDemo(['--wires'])).toMatchObject({ status: 2, stdout: '', stderr, left: [] });
});

describe('with --model', () => {
  const settings = (url: string) => [
    `model_provider=x`,
    `model_providers.x.base_url=${url}/v1`,
    'model_providers.x.request_max_retries=0',
  ];
  const demoWith = (url: string) =>
    runDemo(['--model', 'm', ...settings(url).flatMap((setting) => ['-c', setting])]);

  test('the demo asks the provider', async () => {
    const { url, asked } = await provider(({ url: path }, response) => {
      if (path?.endsWith('/models')) response.end('{"data":[{"id":"m"}]}');
      else response.writeHead(400).end('{"error":{"message":"No."}}');
    });
    const { status, stdout, stderr, left } = await demoWith(url);
    const problem = /^\nThe demo failed: the turn ended failed: .*No\..*\n$/;
    expect({ status, stderr, left }).toEqual({
      status: 1,
      stderr: expect.stringMatching(problem),
      left: [],
    });
    expect(stdout, 'there is one error').not.toContain('error');
    expect(asked.filter((line) => line !== 'connection')).toEqual([
      'GET /v1/models',
      'POST /v1/responses',
    ]);
  });

  test('a provider that nobody runs ends the demo with one error', async () => {
    const { status, stderr, left } = await demoWith('http://127.0.0.1:9');
    const problem =
      /^\nThe demo failed: the model cannot be asked: [^\n]+ Or leave out --model: [^\n]+\n$/;
    expect({ status, stderr, left }).toEqual({
      status: 1,
      stderr: expect.stringMatching(problem),
      left: [],
    });
  });

  const check = (given: string[]) =>
    checkProvider({ home: tempFolder(), cwd: tempFolder(), settings: [...given, 'model="m"'] });

  test.each<[string, RequestListener, RegExp]>([
    ['does not answer', () => {}, /^the model cannot be asked: .* did not answer within 5 s\. /],
    [
      'refuses the key',
      (_request, response) => response.writeHead(401).end('{}'),
      /^the model cannot be asked: .*401/,
    ],
    [
      'fails',
      (_request, response) => response.writeHead(503).end('{}'),
      /^the model cannot be asked: .*503/,
    ],
    ['breaks the connection', ({ socket }) => socket.destroy(), /^the model cannot be asked: /],
  ])('a provider that %s is refused', async (_name, answer, problem) => {
    const { url } = await provider(answer);
    await expect(check(settings(url))).rejects.toThrow(problem);
  });

  const DELTA = `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: 'word ' })}\n\n`;
  const BEGUN = [
    { type: 'response.created', response: { id: 'r', status: 'in_progress' } },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'message', id: 'i', role: 'assistant', content: [] },
    },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
  const stream = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' });
  /** Writes a text again and again, as slowly as a model. */
  const repeat = async (response: ServerResponse, part: string, before = '') => {
    response.write(before || part);
    while (!response.destroyed) {
      await scheduler.wait(20);
      response.write(part);
    }
  };
  const TOO_LATE =
    /^the model m did not complete its first answer within 2 s\. .* Or leave out --model: /;
  const FAILED = /^the turn ended failed: /;
  const EITHER = new RegExp(`${TOO_LATE.source}|${FAILED.source}`);

  const WAYS: [string, RequestListener, RegExp][] = [
    ['says nothing', () => {}, TOO_LATE],
    ['sends headers only', (_request, response) => void stream(response).flushHeaders(), TOO_LATE],
    [
      'stops in an answer',
      (_request, response) => void stream(response).write(BEGUN + DELTA),
      TOO_LATE,
    ],
    [
      'stops in an event',
      (_request, response) => void stream(response).write(BEGUN + DELTA.slice(0, 60)),
      TOO_LATE,
    ],
    [
      'sends comments only',
      (_request, response) => void repeat(stream(response), ': wait\n\n'),
      TOO_LATE,
    ],
    [
      'streams for ever',
      (_request, response) => void repeat(stream(response), DELTA, BEGUN),
      TOO_LATE,
    ],
    [
      'ends within an answer',
      (_request, response) => void stream(response).end(BEGUN + DELTA),
      EITHER,
    ],
    [
      'breaks off',
      (_request, response) => void stream(response).write(BEGUN + DELTA, () => response.destroy()),
      EITHER,
    ],
    ['closes the connection', ({ socket }) => void socket.destroy(), EITHER],
    [
      'answers with HTML',
      (_request, response) =>
        void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello'),
      EITHER,
    ],
    ['answers with nothing', (_request, response) => void response.writeHead(200).end(), EITHER],
    [
      'answers with JSON',
      (_request, response) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
      EITHER,
    ],
    [
      'is overloaded',
      (_request, response) => void response.writeHead(429, { 'retry-after': '3600' }).end('{}'),
      EITHER,
    ],
    ['fails', (_request, response) => void response.writeHead(500).end('{}'), EITHER],
    [
      'redirects',
      (_request, response) => void response.writeHead(302, { location: '/v1/responses' }).end(),
      EITHER,
    ],
  ];

  /**
   * The reason for the end of a session with a provider that lists its models and answers all other
   * requests like this.
   */
  async function endWith(answer: RequestListener): Promise<{ reason: string; shown: string }> {
    const { url } = await provider((request, response) => {
      if (request.url?.endsWith('/models')) response.end('{"data":[{"id":"m"}]}');
      else answer(request, response);
    });
    let shown = '';
    const output = {
      write(words: string) {
        shown += words;
      },
    };
    const watch = new ModelWatch({ model: 'm', firstMsMax: 2_000 });
    const configured = ['model_provider=x', `model_providers.x.base_url=${url}/v1`, 'model="m"'];
    const session = new DemoSession({
      screen: new Screen(output, { wire: false, colors: false }),
      folder: tempFolder(),
      args: ['app-server', ...configured.flatMap((setting) => ['-c', setting])],
      isEmbedded: false,
      onNotification: (notification) => watch.receive(notification),
    });
    try {
      await Promise.race([session.run(), watch.tooLate]);
      return { reason: '', shown };
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error), shown };
    } finally {
      watch.end();
      await session.end();
    }
  }

  test('a provider that lists its models and then does not answer ends the demo with one error', async () => {
    const ends = await Promise.all(
      WAYS.map(async ([name, answer]) => ({ name, ...(await endWith(answer)) })),
    );
    expect(ends).toEqual(
      WAYS.map(([name, , problem]) => ({
        name,
        reason: expect.stringMatching(problem),
        shown: expect.not.stringContaining('error'),
      })),
    );
  });

  test('a model that falls silent after its first answer ends the demo', async () => {
    const watch = new ModelWatch({ model: 'm', firstMsMax: 60_000, silentMsMax: 1 });
    const turn = { id: 't', status: 'completed' } as Turn;
    watch.receive({ method: 'turn/completed', params: { threadId: 'a', turn } });
    await expect(watch.tooLate).rejects.toThrow(/^the model m was silent for 0\.001 s\. /);
  });

  test.each([
    [
      ['model_provider=scripted'],
      /^--model needs a provider: set OPENAI_API_KEY, or choose one, such as -c model_provider=ollama\./,
    ],
    [['model_provider=y'], /^the model cannot be asked: .*: unknown model provider: y\. /],
    [['model_provider'], /^the model cannot be asked: -c model_provider: expected key=value\. /],
  ])('the settings %j are refused', async (given, problem) => {
    await expect(check(given)).rejects.toThrow(problem);
  });

  test('a provider that answers is named, with a warning about settings that have no effect', async () => {
    const { url } = await provider((_request, response) => response.end('{"data":[{"id":"m"}]}'));
    expect(await check([...settings(url), 'model_providr=y'])).toEqual({
      summary: `x, model m, at ${url}/v1`,
      warnings: [expect.stringContaining('model_providr')],
    });
  });
});

describe('the pictures of README.md', () => {
  const folder = join(root, 'docs', 'pictures');
  const committed = Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

  test('are what `npm run pictures` makes', async () => {
    expect(await readmePictures()).toEqual(committed);
  });

  test.each(Object.entries(committed))(
    '%s is small, has text, and fetches nothing',
    (_name, picture) => {
      expect(picture.length).toBeLessThan(10_000);
      expect(picture).toContain(">$ /bin/sh -c 'cat hello.txt'</text>");
      expect(picture.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
        /https?:|url\(|href|@import|<style|<script|<image|<foreignObject/,
      );
    },
  );
});
