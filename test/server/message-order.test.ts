import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { idOf } from '../support/counting-ids.ts';
import { Gate } from '../support/gate.ts';
import { runs } from '../support/runs.ts';
import { type Message, type TestClient, text } from '../support/test-client.ts';
import { message, response, type Step } from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const ASKED = 'item/fileChange/requestApproval';

/**
 * A message of a client whose turn waits for its approval. `answer`: the answer to the question,
 * with this decision.
 */
type Line =
  | 'interrupt'
  | 'steer'
  | 'start'
  | 'inject'
  | 'settings'
  | 'read'
  | 'accept'
  | 'decline'
  | 'cancel';

/**
 * The outcome of one line: the turn that a request began or joined, `ok`, or the code of its error.
 * Null: an answer, which gets none.
 */
type Outcome = string | null;

interface Turns {
  /** The turns by name, in their order, and how they end. */
  turns: Record<string, 'running' | 'interrupted'>;
  /** The turn that takes input, if any. */
  open: string | null;
  /** The last turn that a client interrupted. */
  interrupted: string | null;
  isAsked: boolean;
}

/** The effect of each line if the lines take effect in their order. The first turn is `t1`. */
function inOrder(lines: readonly Line[]): { outcomes: Outcome[]; turns: Turns['turns'] } {
  const state: Turns = { turns: { t1: 'running' }, open: 't1', interrupted: null, isAsked: true };
  return { outcomes: lines.map((line) => takeEffect(state, line)), turns: state.turns };
}

function takeEffect(state: Turns, line: Line): Outcome {
  const isFirst = state.open === 't1';
  switch (line) {
    case 'interrupt':
      if (!isFirst && state.interrupted !== 't1')
        return state.open === null ? 'turn_not_active' : 'turn_mismatch';
      if (isFirst) stop(state);
      return 'ok';
    case 'steer':
      if (isFirst) return 't1';
      return state.open === null ? 'turn_not_active' : 'turn_mismatch';
    case 'start':
      state.open ??= `t${Object.keys(state.turns).length + 1}`;
      state.turns[state.open] ??= 'running';
      return state.open;
    case 'cancel':
      if (state.isAsked) stop(state);
      return null;
    case 'accept':
    case 'decline':
      state.isAsked = false;
      return null;
    default:
      return 'ok';
  }
}

function stop(state: Turns): void {
  state.turns.t1 = 'interrupted';
  Object.assign(state, { open: null, interrupted: 't1', isAsked: false });
}

/**
 * A thread with a turn that waits for an approval of a patch. Its model answers every later request
 * when the gate opens.
 */
async function asking(
  server: TestServer,
): Promise<{ threadId: string; turnId: string; question: unknown; gate: Gate }> {
  const { client, model } = server;
  const { thread } = await client.request('thread/start', {
    approvalPolicy: 'untrusted',
    sandbox: 'workspace-write',
  });
  const gate = new Gate();
  const input = `*** Begin Patch\n*** Add File: ${thread.id}.txt\n+text\n*** End Patch\n`;
  const call: Step = {
    type: 'itemCompleted',
    item: { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c1', name: 'apply_patch', input },
  };
  model.clear();
  model.push(
    response([call]),
    ...Array.from({ length: 20 }, () => [gate, ...response(message('done'))]),
  );
  const { turn } = await client.request('turn/start', { threadId: thread.id, input: text('go') });
  const isMine = ({ method, params }: Message) =>
    method === ASKED && (params as { threadId: string }).threadId === thread.id;
  const { id } = await client.first('the question', isMine);
  return { threadId: thread.id, turnId: turn.id, question: id, gate };
}

let ids = 0;

function lineOf(
  line: Line,
  { threadId, turnId, question }: { threadId: string; turnId: string; question: unknown },
) {
  const request = (method: string, params: object) => {
    const id = `line-${++ids}`;
    return { id, text: JSON.stringify({ id, method, params: { threadId, ...params } }) };
  };
  switch (line) {
    case 'interrupt':
      return request('turn/interrupt', { turnId });
    case 'steer':
      return request('turn/steer', { expectedTurnId: turnId, input: text('steered') });
    case 'start':
      return request('turn/start', { input: text('started') });
    case 'inject':
      return request('thread/inject_items', {
        items: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'note' }] }],
      });
    case 'settings':
      return request('thread/settings/update', { effort: 'low' });
    case 'read':
      return request('thread/read', { includeTurns: true });
    default:
      return { id: null, text: JSON.stringify({ id: question, result: { decision: line } }) };
  }
}

async function outcomeOf(client: TestClient, id: string | null): Promise<string | null> {
  if (id === null) return null;
  const answer = await client.first(`the answer to ${id}`, (one) => one.id === id);
  if (answer.error !== undefined) return String(answer.error.data.code);
  const result = answer.result as { turn?: { id: string }; turnId?: string };
  return result.turn?.id ?? result.turnId ?? 'ok';
}

/** Writes the lines, all at once or in parts, and returns what they did, with the turns by name. */
async function write(server: TestServer, lines: readonly Line[], cuts: readonly number[]) {
  const { client } = server;
  const asked = await asking(server);
  const written = lines.map((line) => lineOf(line, asked));
  const bytes = Buffer.from(written.map((line) => `${line.text}\n`).join(''));
  const ends = [...new Set(cuts.map((cut) => cut % bytes.length))]
    .sort((a, b) => a - b)
    .concat(bytes.length);
  for (const [index, end] of ends.entries()) {
    client.input.write(bytes.subarray(ends[index - 1] ?? 0, end));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const found = await Promise.all(written.map(({ id }) => outcomeOf(client, id)));
  const started = [asked.turnId];
  for (const id of found)
    if (id !== null && /^0{8}-/.test(id) && !started.includes(id)) started.push(id);
  asked.gate.open();
  if (client.notifications('turn/completed', ({ turn }) => turn.id === asked.turnId).length === 0)
    client.send(JSON.stringify({ id: asked.question, result: { decision: 'decline' } }));
  const turns = Object.fromEntries(
    await Promise.all(
      started.map(
        async (id, index) => [`t${index + 1}`, (await client.turnCompleted(id)).status] as const,
      ),
    ),
  );
  const outcomes = found.map((id) =>
    id !== null && started.includes(id) ? `t${started.indexOf(id) + 1}` : id,
  );
  const ended = client
    .notifications('turn/completed', ({ threadId }) => threadId === asked.threadId)
    .map(({ turn }) => turn.id);
  expect(ended.sort()).toEqual([...started].sort());
  return { outcomes, turns };
}

function expected(lines: readonly Line[]) {
  const { outcomes, turns } = inOrder(lines);
  const ended = Object.entries(turns).map(([name, state]) => [
    name,
    state === 'running' ? 'completed' : state,
  ]);
  return { outcomes, turns: Object.fromEntries(ended) };
}

const SEQUENCES: Line[][] = [
  ['interrupt', 'cancel'],
  ['interrupt', 'decline'],
  ['interrupt', 'accept'],
  ['cancel', 'interrupt'],
  ['cancel', 'start'],
  ['decline', 'interrupt'],
  ['decline', 'steer', 'interrupt', 'start'],
  ['interrupt', 'start', 'cancel'],
  ['read', 'interrupt', 'cancel', 'read'],
  ['inject', 'accept', 'cancel', 'interrupt'],
];

describe('the messages of a client for a thread take effect in the order of its lines', () => {
  test.each(SEQUENCES.map((lines) => [lines.join(', '), lines] as const))(
    '%s, in one write',
    async (_name, lines) => {
      expect(await write(await startServer(), lines, [])).toEqual(expected(lines));
    },
  );

  test('any sequence, in one write and in any parts', { tags: 'seeded' }, async () => {
    const server = await startServer();
    const line = fc.constantFrom<Line>(
      'interrupt',
      'steer',
      'start',
      'inject',
      'settings',
      'read',
      'accept',
      'decline',
      'cancel',
    );
    const cuts = fc.oneof(fc.constant<number[]>([]), fc.array(fc.nat(4_000), { maxLength: 8 }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 8 }),
        cuts,
        async (lines, parts) => {
          expect(await write(server, lines, parts)).toEqual(expected(lines));
        },
      ),
      { numRuns: runs(120) },
    );
  });
});

test('an interrupt without an id in the same write as the start of a turn interrupts that turn', async () => {
  const { client, model } = await startServer();
  model.push([new Gate()]);
  await client.request('thread/start', {});
  const params = { threadId: idOf(1) };
  const start = { id: 'start', method: 'turn/start', params: { ...params, input: text('go') } };
  client.send(
    [start, { id: 'stop', method: 'turn/interrupt', params: { ...params, turnId: '' } }]
      .map((one) => JSON.stringify(one))
      .join('\n'),
  );
  expect((await client.waitFor('turn/completed')).turn.status).toBe('interrupted');
  expect(await client.first('the answer', ({ id }) => id === 'stop')).toEqual({
    id: 'stop',
    result: {},
  });
});

test('answers that come with the end of the input count', async () => {
  const server = await startServer();
  const { client } = server;
  const asked = await asking(server);
  const other = await server.connect();
  await other.request('thread/resume', { threadId: asked.threadId });
  client.send(JSON.stringify({ id: asked.question, result: { decision: 'accept' } }));
  await client.close();
  asked.gate.open();
  expect((await other.waitFor('turn/completed')).turn.status).toBe('completed');
  const items = other.notifications('item/completed').map(({ item }) => item);
  expect(items.find(({ type }) => type === 'fileChange')).toMatchObject({ status: 'completed' });
});

test('a client that does not read does not keep the requests of others for the same thread waiting', async () => {
  const server = await startServer();
  await server.client.request('thread/start', {});
  const big = 'x'.repeat(5 * 1024 * 1024);
  server.model.push(response(message(big)));
  await server.client.turn(idOf(1), 'go');
  const deaf = await server.connect({ reading: false });
  const lines = [
    {
      id: 'hello',
      method: 'initialize',
      params: {
        clientInfo: { name: 'deaf', version: '1' },
        capabilities: { experimentalApi: true },
      },
    },
    ...[1, 2, 3].map((id) => ({
      id,
      method: 'thread/read',
      params: { threadId: idOf(1), includeTurns: true },
    })),
  ];
  deaf.send(lines.map((line) => JSON.stringify(line)).join('\n'));
  const read = await server.client.request('thread/read', { threadId: idOf(1) });
  await server.client.request('thread/read', { threadId: idOf(1) });
  server.model.push(response(message('again')));
  expect((await server.client.turn(idOf(1), 'still there?')).status).toBe('completed');
  expect(read.thread.id).toBe(idOf(1));
  deaf.read();
});
