import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { EXECUTABLE, environment, place, startHeddle } from './support.ts';

const METHOD = 'item/tool/requestUserInput';
const THREAD = '019b76da-a800-7000-8000-000000000001';
const ASK = `call request_user_input ${JSON.stringify({
  questions: [
    {
      id: 'q',
      header: 'Which',
      question: 'Which one?',
      options: [{ label: 'A', description: 'the first' }],
    },
  ],
})}\nsay done`;

function turnParams(threadId: string, text: string) {
  const collaborationMode = {
    mode: 'plan' as const,
    settings: { model: 'embedded', reasoning_effort: null, developer_instructions: null },
  };
  return { threadId, input: [{ type: 'text' as const, text }], collaborationMode };
}

async function asking(args: string[], text: string) {
  const heddle = await startHeddle(place(), { args });
  const { thread } = await heddle.request('thread/start', {});
  await heddle.request('turn/start', turnParams(thread.id, text));
  return heddle;
}

describe('at the end of the input', () => {
  test('with --drain an open question counts as refused, since nobody is left to answer, and the turn ends', async () => {
    const heddle = await asking(['--drain'], ASK);
    const { id } = await heddle.first('the question', ({ method }) => method === METHOD);
    expect(await heddle.finish()).toEqual({ code: 0, signal: null });
    expect(
      heddle.notifications('serverRequest/resolved').map(({ requestId }) => requestId),
    ).toEqual([id]);
    expect(heddle.notifications('turn/completed').map(({ turn }) => turn.status)).toEqual([
      'completed',
    ]);
  });

  test('with --drain so does one that is asked after it', async () => {
    const heddle = await asking(['--drain'], `say one\nwait 200\n${ASK}`);
    await heddle.waitFor('item/completed', ({ item }) => item.type === 'agentMessage');
    expect(await heddle.finish()).toEqual({ code: 0, signal: null });
    expect(heddle.messages.filter(({ method }) => method === METHOD)).toHaveLength(1);
    expect(heddle.notifications('turn/completed').map(({ turn }) => turn.status)).toEqual([
      'completed',
    ]);
  });

  test('with --drain an answer that came just before it counts', async () => {
    const heddle = await asking(['--drain'], ASK);
    const { id } = await heddle.first('the question', ({ method }) => method === METHOD);
    heddle.send(JSON.stringify({ id, result: { answers: { q: { answers: ['A'] } } } }));
    expect(await heddle.finish()).toEqual({ code: 0, signal: null });
    const [end] = heddle.notifications('turn/completed');
    expect(end?.turn.status).toBe('completed');
  });

  test('without it the server ends, and the turn with it', async () => {
    const heddle = await asking([], ASK);
    await heddle.first('the question', ({ method }) => method === METHOD);
    expect(await heddle.finish()).toEqual({ code: 0, signal: null });
  });
});

describe('--deterministic', () => {
  const ANSWER = { id: 0, result: { answers: { q: { answers: ['A'] } } } };
  const handshake = {
    clientInfo: { name: 'script', version: '1' },
    capabilities: { experimentalApi: true },
  };

  function run(config: string[], ...more: object[]): string[] {
    const messages = [
      { id: 1, method: 'initialize', params: handshake },
      { id: 2, method: 'thread/start', params: {} },
      { id: 3, method: 'turn/start', params: turnParams(THREAD, ASK) },
      ...more,
    ];
    const where = place();
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [EXECUTABLE, '--deterministic', ...config],
      {
        cwd: where.work,
        env: environment(where),
        encoding: 'utf8',
        input: messages.map((message) => `${JSON.stringify(message)}\n`).join(''),
        timeout: 30_000,
      },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout.trimEnd().split('\n');
  }

  /** How the turn ended, and the time it took; null: it did not. */
  function end(lines: string[]): unknown {
    const messages = lines.map((line) => JSON.parse(line));
    const completed = messages.find(({ method }) => method === 'turn/completed');
    return completed === undefined
      ? null
      : [completed.params.turn.status, completed.params.turn.durationMs];
  }

  test('a question waits for the next messages, one of which answers it, also where silence may last only so long', () => {
    const read = { id: 4, method: 'thread/read', params: { threadId: THREAD } };
    const lines = run([], read, ANSWER);
    expect(end(lines)).toEqual(['completed', 0]);
    expect(lines.find((line) => line.startsWith('{"id":4'))).toContain(
      '"activeFlags":["waitingOnUserInput"]',
    );
    expect(end(run(['-c', 'approval_timeout_ms=60000'], read, ANSWER))).toEqual(['completed', 0]);
  });

  test('what nobody answers is refused when the time for it has passed, behind the last message', () => {
    expect(end(run(['-c', 'approval_timeout_ms=60000']))).toEqual(['completed', 60000]);
  });

  test('what nobody answers for ever ends with the server', () => {
    expect(end(run([]))).toEqual(null);
  });
});
