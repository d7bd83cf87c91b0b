import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/model/model.ts';
import type { LogEntry } from '../../../src/store/log-entry.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { Gate } from '../../support/gate.ts';
import { gatedStore } from '../../support/gated-store.ts';
import { text } from '../../support/test-client.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import {
  type AgentsServer,
  agentIds,
  configWith,
  done,
  ROOT,
  spawn,
  wait,
  withAgents,
} from './agents-server.ts';

/** Resolves when so many turns have ended, of all threads. */
async function turnsEnded({ client }: AgentsServer, count: number): Promise<void> {
  let ends = 0;
  await client.first(
    'the end of a turn',
    ({ method }) => method === 'turn/completed' && ++ends === count,
  );
}

/** The messages about agents that a request has. */
function agentsMessages(request: ModelRequest | undefined): string[] {
  const texts = (request?.input ?? []).flatMap((item) =>
    item.type === 'message' && typeof item.content !== 'string' ? item.content : [],
  );
  return texts.flatMap((part) =>
    'text' in part && part.text.startsWith('<agents>') ? [part.text] : [],
  );
}

const planned = response(functionCall('update_plan', { plan: [{ step: 'a', status: 'pending' }] }));

test.each([5_000, 12_000])(
  'agents that each say %i words do not fill the context window of their parent',
  async (words) => {
    const spawns = [0, 1, 2, 3, 4].map((n) =>
      functionCall('spawn_agent', { message: `child: ${n}` }, { callId: `c${n}` }),
    );
    const server = await withAgents(
      {
        root: [response(...spawns), done],
        child: Array.from({ length: 5 }, () => response(message('word '.repeat(words)))),
      },
      { config: `model_context_window = 40000\n${configWith('')}` },
    );
    await server.client.turn(ROOT, 'root: go');
    await turnsEnded(server, 6);
    let asked = 0;
    const answer = ({ input }: ModelRequest) => {
      const last = JSON.stringify(input.at(-1));
      if (/summar/i.test(last) && !last.includes('<agents>'))
        return response(message('the summary'));
      return ++asked % 8 === 0 ? done : planned;
    };
    server.agents.push('root', ...Array(60).fill(answer));
    for (const turn of [1, 2, 3, 4])
      expect(await server.client.turn(ROOT, `more ${turn}`)).toMatchObject({
        status: 'completed',
        error: null,
      });
  },
);

test('after a compaction, the model is told its agents at once, without their messages', async () => {
  const server = await withAgents({
    root: [
      spawn({ message: 'child: x' }),
      (request) => wait(request),
      spawn({ message: 'slow: y' }, 'second'),
      done,
      response(message('the summary')),
      done,
    ],
    child: [response(message('the result'))],
    slow: [[new Gate()]],
  });
  await server.client.turn(ROOT, 'root: go');
  await server.client.request('thread/compact/start', { threadId: ROOT });
  await server.client.waitFor('thread/compacted');
  await server.client.turn(ROOT, 'two');
  const [child = '', slow = ''] = agentIds(server);
  const last = server.agents.of('root').at(-1);
  expect(agentsMessages(last)).toEqual([
    expect.stringContaining(
      `{"agent_id":"${child}","status":"completed"}\n{"agent_id":"${slow}","status":"running"}`,
    ),
  ]);
  expect(JSON.stringify(last?.input)).not.toContain('the result');
  await server.client.request('turn/interrupt', { threadId: ROOT, turnId: '' });
});

test.each([
  ['what it is told', done, (entries: string) => entries.includes('<agents>')],
  [
    'the output of its wait',
    (request: ModelRequest) => wait(request),
    (entries: string) => entries.includes('function_call_output'),
  ],
])('the parent learns of an end again if %s could not be stored', async (_, answer, isFailing) => {
  let fails = false;
  const hold = new Gate();
  const beforeWrite = ({ entries }: { entries: LogEntry[] }) => {
    if (fails && isFailing(JSON.stringify(entries)))
      throw new StoreError('store_full', 'the disk is full');
  };
  const server = await withAgents(
    {
      root: [spawn({ message: 'child: x' }), answer, done, done],
      child: [[hold, ...response(message('found it'))]],
    },
    { wrapStore: (store) => gatedStore(store, beforeWrite) },
  );
  if (answer === done) await server.client.turn(ROOT, 'root: go');
  else await server.client.request('turn/start', { threadId: ROOT, input: text('root: go') });
  await server.client.waitFor(
    'item/started',
    ({ threadId, item }) => threadId === ROOT && item.type !== 'userMessage',
  );
  fails = true;
  hold.open();
  await server.client.waitFor('turn/completed', ({ threadId }) => threadId !== ROOT);
  if (answer === done) await server.client.turn(ROOT, 'two');
  await server.client.waitFor(
    'turn/completed',
    ({ threadId, turn }) => threadId === ROOT && turn.status === 'failed',
  );
  fails = false;
  await server.client.turn(ROOT, 'three');
  expect(agentsMessages(server.agents.of('root').at(-1))).toEqual([
    expect.stringContaining('found it'),
  ]);
});
