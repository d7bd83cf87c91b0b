// @module-tag slow
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/model/model.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { tempFolder } from '../../config/temp-folder.ts';
import { CountingIds } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { gatedStore } from '../../support/gated-store.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { type AgentResponse, AgentsModel, agentOf, outputs } from './agents-model.ts';
import { configWith, done, ROOT, spawn, wait, withAgents } from './agents-server.ts';
import { expectSettled } from './tree-ledger.ts';

const config = configWith('[agents]\nmax_depth = 2\n');

/** A root whose child starts a grandchild and waits for it. */
const scripts = (): Record<string, AgentResponse[]> => ({
  root: [
    spawn({ message: 'child: x' }),
    (request) => wait(request),
    (request) =>
      response(
        functionCall('close_agent', { target: agentOf(request, 'spawn') }, { callId: 'close' }),
      ),
    done,
  ],
  child: [
    spawn({ message: 'grandchild: y' }),
    (request) => wait(request),
    response(message('two')),
  ],
  grandchild: [response(message('one'))],
});

test('killed before each write of the store: what is left is settled, and the thread knows its agents', async () => {
  const folders: string[] = [];
  let folder = '';
  const server = await withAgents(scripts(), {
    config,
    wrapStore: (store) =>
      gatedStore(store, () => {
        if (folder === '') return;
        const copy = tempFolder();
        // In a process of its own: if this one closed a file of the database, it would lose its
        // locks.
        execFileSync('cp', ['-r', `${folder}/.`, copy]);
        folders.push(copy);
      }),
  });
  folder = server.folder;
  await server.client.turn(ROOT, 'root: go');
  await server.close();
  expect(folders.length).toBeGreaterThan(15);
  for (const [index, copy] of folders.entries()) {
    const agents = new AgentsModel({ root: [] });
    const next = await startServer({
      folder: copy,
      pid: 4712,
      ids: new CountingIds(1000),
      otherModel: agents,
      config,
    });
    await next.client.request('thread/resume', { threadId: ROOT });
    const below = await next.store.listAgents(ROOT);
    expect([
      index,
      below.filter(({ listed, source }) => !listed && JSON.stringify(source).includes('"depth":1')),
    ]).toEqual([index, []]);
    const listed = below.filter((agent) => agent.listed);
    for (const { id } of [{ id: ROOT }, ...listed]) {
      const { thread } = await next.client.request('thread/read', {
        threadId: id,
        includeTurns: true,
      });
      expectSettled(thread.turns);
    }
    const ids = listed.map(({ id }) => id);
    agents.push(
      'root',
      ...(ids.length === 0
        ? []
        : [response(functionCall('wait_agent', { targets: ids }, { callId: 'again' }))]),
      done,
    );
    expect([index, (await next.client.turn(ROOT, 'root: again')).status]).toEqual([
      index,
      'completed',
    ]);
    const told = agents.of('root').at(-1);
    const status = told === undefined ? {} : outputs(told).again;
    if (ids.length > 0) expect(status).toMatchObject({ timed_out: false });
    expect(JSON.stringify(status ?? {})).not.toMatch(/"running"|not_found/);
    await next.close();
  }
}, 120_000);

test('a write that fails ends what it belongs to: every turn that has begun ends, and no agent is left without a turn', async () => {
  for (let failing = 1; failing <= 30; failing++) {
    let writes = 0;
    const server = await withAgents(scripts(), {
      config,
      wrapStore: (store) =>
        gatedStore(store, () => {
          writes++;
          if (writes === failing + 1)
            throw new StoreError('store_full', 'the disk is full', { file: 'heddle.db' });
        }),
    });
    const { client } = server;
    const begun = await client.ask('turn/start', {
      threadId: ROOT,
      input: [{ type: 'text', text: 'root: go' }],
    });
    if (begun.error === undefined)
      await client.waitFor('turn/completed', ({ threadId }) => threadId === ROOT);
    await client.request('turn/interrupt', { threadId: ROOT, turnId: '' });
    const ended = () => new Set(client.notifications('turn/completed').map(({ turn }) => turn.id));
    await client.count(Number.POSITIVE_INFINITY, () =>
      client.notifications('turn/started').every(({ turn }) => ended().has(turn.id)),
    );
    const unlisted = (await server.store.listAgents(ROOT)).filter(({ listed }) => !listed);
    expect([failing, unlisted]).toEqual([failing, []]);
    await server.close();
    for (const error of server.log.takeErrors()) expect(error).toBe('a tool failed');
  }
}, 120_000);

/** A root that lets an agent work which does not end its turn. */
const working: [string, AgentResponse[], AgentResponse[]?][] = [
  ['starts an agent', [spawn({ message: 'child: x' }), done]],
  [
    'sends an idle agent input',
    [
      spawn({ message: 'child: x' }),
      (request) => wait(request),
      (request) => sent(request, {}),
      done,
    ],
    [done],
  ],
  ['sends an agent input', [spawn({ message: 'child: x' }), (request) => sent(request, {}), done]],
  [
    'interrupts an agent for input',
    [spawn({ message: 'child: x' }), (request) => sent(request, { interrupt: true }), done],
  ],
];
const sent = (request: ModelRequest, args: object) =>
  response(
    functionCall(
      'send_input',
      { target: agentOf(request, 'spawn'), message: 'more', ...args },
      { callId: 'send' },
    ),
  );

/**
 * The store calls `beforeWrite` with the number of each write. `first`: what the agent does before
 * it works without end.
 */
function starting(
  root: AgentResponse[],
  first: AgentResponse[],
  beforeWrite: (count: number) => Promise<void> | void,
) {
  return withAgents(
    { root, child: [...first, [new Gate()], [new Gate()]] },
    { config, wrapStore: (store) => gatedStore(store, ({ count }) => beforeWrite(count)) },
  );
}

test.each(working)(
  'an interrupt at each write of a turn that %s leaves no agent that runs',
  async (_, root, first = []) => {
    let writes = 0;
    const whole = await starting(root, first, (count) => {
      writes = count;
    });
    await whole.client.turn(ROOT, 'root: go');
    await whole.client.waitFor('turn/started', ({ threadId }) => threadId !== ROOT);
    const last = writes - 1;
    expect(last).toBeGreaterThan(3);
    for (let moment = 1; moment <= last; moment++) {
      const gate = new Gate();
      const { client, store, close } = await starting(root, first, (count) =>
        count === moment ? gate.pass() : undefined,
      );
      let isBegun = false;
      const begun = client
        .ask('turn/start', { threadId: ROOT, input: [{ type: 'text', text: 'root: go' }] })
        .finally(() => {
          isBegun = true;
        });
      await gate.reached;
      const wasBegun = isBegun;
      const interrupted = client.ask('turn/interrupt', { threadId: ROOT, turnId: '' });
      gate.open();
      await begun;
      const { error } = await interrupted;
      // The end of the turn is decided before its last write, or written with it: then its agents
      // go on.
      if (error !== undefined) {
        expect([moment, error]).toMatchObject([last, { data: { code: 'turn_not_active' } }]);
        await close();
        continue;
      }
      if (!wasBegun) await client.ask('turn/interrupt', { threadId: ROOT, turnId: '' });
      const ended = () =>
        new Set(client.notifications('turn/completed').map(({ turn }) => turn.id));
      const started = () => client.notifications('turn/started');
      await client.count(
        Number.POSITIVE_INFINITY,
        () => started().length > 0 && started().every(({ turn }) => ended().has(turn.id)),
      );
      expect((await store.listAgents(ROOT)).filter(({ listed }) => !listed)).toEqual([]);
      await close();
    }
  },
  120_000,
);
