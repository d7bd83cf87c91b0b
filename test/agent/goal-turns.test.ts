import { describe, expect, test } from 'vitest';
import { StoreError } from '../../src/store/store-error.ts';
import { idOf } from '../support/counting-ids.ts';
import { agentItem, brief } from '../support/expected.ts';
import { Gate } from '../support/gate.ts';
import { gatedStore } from '../support/gated-store.ts';
import { settled, taken } from '../support/settled.ts';
import { type TestClient, text } from '../support/test-client.ts';
import {
  asked,
  conversation,
  failed,
  functionCall,
  message,
  messageBegun,
  response,
  type ScriptedResponse,
} from '../support/test-model.ts';
import type { TestServer } from '../support/test-server.ts';
import { threadAnswering } from '../support/thread-with.ts';

const threadId = idOf(1);
/**
 * A thread without followers is unloaded after this time. The timer starts when its turn has ended.
 */
const IDLE_MS = 30 * 60 * 1000;
const PLAN = functionCall('update_plan', { plan: [] });
const COMPLETE = functionCall('update_goal', { status: 'complete' });

/** A thread with an active goal. */
async function goalOn(...responses: ScriptedResponse[]): Promise<TestServer> {
  const server = await threadAnswering(responses);
  await server.client.request('thread/goal/set', { threadId, objective: 'all green' });
  return server;
}

/** Resolves when the goal has this status. */
async function goalIs(client: TestClient, status: string): Promise<void> {
  await client.waitFor('thread/goal/updated', ({ goal }) => goal.status === status);
}

/** Resolves when this many turns have ended, and a following turn has had the chance to begin. */
async function ended({ client }: Pick<TestServer, 'client'>, turns: number): Promise<void> {
  let count = 0;
  await client.first(
    `the end of turn ${turns}`,
    ({ method }) => method === 'turn/completed' && ++count === turns,
  );
  await settled(client, threadId);
}

interface Told {
  turn: { id: string; status: string };
  goal: { status: string; tokensUsed: number };
  turnId: string | null;
  status: { type: string };
}

/** The notifications about turns and the goal, in short. */
function story(client: TestClient): string[] {
  const turns: string[] = [];
  const nameOf = (id: string) => {
    if (!turns.includes(id)) turns.push(id);
    return turns.indexOf(id) + 1;
  };
  const told: Record<string, (params: Told) => string> = {
    'turn/started': ({ turn }) => `turn ${nameOf(turn.id)} started`,
    'turn/completed': ({ turn }) => `turn ${nameOf(turn.id)} ${turn.status}`,
    'thread/goal/updated': ({ goal, turnId }) =>
      `goal ${goal.status} ${goal.tokensUsed}${turnId === null ? '' : ` by turn ${nameOf(turnId)}`}`,
    'thread/goal/cleared': () => 'goal cleared',
    'thread/status/changed': ({ status }) => status.type,
    warning: () => 'warning',
  };
  return client.messages.flatMap(({ method = '', params }) => told[method]?.(params as Told) ?? []);
}

/** The text of the goal message at the end of a request. */
function lastText({ model }: TestServer, request: number): string {
  const last = conversation(model.request(request)).at(-1);
  const part = last?.type === 'message' ? last.content[0] : undefined;
  return part !== undefined && 'text' in part ? part.text : '';
}

describe('an idle thread with an active goal', () => {
  test('begins turns by itself until the model completes the goal; each is an ordinary turn', async () => {
    const server = await goalOn(
      response(PLAN),
      response(message('one')),
      response(COMPLETE),
      response(message('done')),
    );
    await ended(server, 2);
    expect(story(server.client)).toEqual([
      'goal active 0',
      'active',
      'turn 1 started',
      'goal active 11 by turn 1',
      'goal active 22 by turn 1',
      'idle',
      'turn 1 completed',
      'active',
      'turn 2 started',
      'goal active 33 by turn 2',
      'goal complete 33 by turn 2',
      'idle',
      'turn 2 completed',
    ]);
    const { thread } = await server.client.request('thread/read', { threadId, includeTurns: true });
    expect(thread.turns.map(({ status, items }) => [status, brief(items)])).toEqual([
      ['completed', ['agent: one']],
      ['completed', ['agent: done']],
    ]);
    expect(server.model.requests).toHaveLength(4);
  });

  test('tells the model the objective, as data, and the tokens and time used', async () => {
    const server = await threadAnswering([
      response(PLAN),
      response(message('one')),
      response(COMPLETE),
      response(message('done')),
    ]);
    await server.client.request('thread/goal/set', {
      threadId,
      objective: 'a </objective> & <b>',
      tokenBudget: 50,
    });
    await ended(server, 2);
    const opening = lastText(server, 1);
    expect(opening).toContain('<objective>\na &lt;/objective&gt; &amp; &lt;b&gt;\n</objective>');
    expect(opening).toContain('Tokens used so far: 0 of 50.');
    expect(lastText(server, 3)).toContain('Tokens used so far: 22 of 50.');
    const [told] = server.model.request(1).input.slice(-1);
    expect(told).toEqual(asked(opening));
  });

  test('begins after a turn of the user, which has no goal message', async () => {
    const gate = new Gate();
    const server = await threadAnswering([
      response([gate], message('hello')),
      response(COMPLETE),
      response(message('done')),
    ]);
    await server.client.request('turn/start', { threadId, input: text('hi') });
    await server.model.asked(1);
    await server.client.request('thread/goal/set', { threadId, objective: 'all green' });
    await settled(server.client, threadId);
    expect(server.model.requests).toHaveLength(1);
    gate.open();
    await ended(server, 2);
    expect(conversation(server.model.request(1))).toEqual([asked('hi')]);
    expect(story(server.client).slice(2, 6)).toEqual([
      'goal active 0',
      'goal active 11 by turn 1',
      'idle',
      'turn 1 completed',
    ]);
    expect(server.model.requests).toHaveLength(3);
  });

  test('waits for a follower, and goes on when the thread is resumed, also after a restart', async () => {
    const gate = new Gate();
    const server = await goalOn(response([gate], PLAN), response(message('one')));
    const { turn } = await server.client.waitFor('turn/started');
    await server.client.request('thread/unsubscribe', { threadId });
    gate.open();
    await server.clock.timerOf(IDLE_MS);
    await settled(server.client, threadId);
    const { client, model } = await server.restart();
    expect((await client.request('thread/goal/get', { threadId })).goal).toMatchObject({
      status: 'active',
      tokensUsed: 22,
    });
    expect(model.requests).toHaveLength(2);
    model.push(response(COMPLETE), response(message('done')));
    const { thread } = await client.request('thread/resume', { threadId });
    expect(thread.turns.map(({ id }) => id)).toEqual([turn.id]);
    await ended({ client }, 1);
    expect(story(client)).toEqual([
      'goal active 22',
      'active',
      'turn 1 started',
      'goal active 33 by turn 1',
      'goal complete 33 by turn 1',
      'idle',
      'turn 1 completed',
    ]);
  });

  test('charges tokens that were not cached, and only the time of its turns', async () => {
    const gate = new Gate();
    const server = await goalOn(response([gate], COMPLETE), response(message('done')));
    await server.model.asked(1);
    server.clock.advance(3_700);
    gate.open();
    await ended(server, 1);
    server.clock.advance(60_000);
    expect((await server.client.request('thread/goal/get', { threadId })).goal).toMatchObject({
      tokensUsed: 11,
      timeUsedSeconds: 3,
    });
  });

  test('begins no turn while goals are disabled', async () => {
    const first = await threadAnswering([]);
    const stored = await first.restart();
    await stored.client.request('thread/goal/set', { threadId, objective: 'all green' });
    const { client, model } = await stored.restart({ overrides: ['features.goals=false'] });
    await client.request('thread/resume', { threadId });
    expect(await client.waitFor('thread/goal/cleared')).toEqual({ threadId });
    model.push(response(message('hello')));
    await client.turn(threadId, 'hi');
    await settled(client, threadId);
    expect(
      model.requests.map(({ tools }) => tools.filter(({ name }) => name.endsWith('_goal'))),
    ).toEqual([[]]);
  });

  test('begins no turn in plan mode', async () => {
    const server = await threadAnswering([response(message('a plan'))]);
    const settings = { model: 'test-model', reasoning_effort: null, developer_instructions: null };
    await server.client.turn(threadId, 'plan it', {
      collaborationMode: { mode: 'plan', settings },
    });
    await server.client.request('thread/goal/set', { threadId, objective: 'all green' });
    await settled(server.client, threadId);
    expect(server.model.requests).toHaveLength(1);
  });
});

describe('it stops', () => {
  test('when the model says that it is blocked', async () => {
    const server = await goalOn(
      response(functionCall('update_goal', { status: 'blocked' })),
      response(message('stuck')),
    );
    await ended(server, 1);
    expect(story(server.client).slice(-3)).toEqual([
      'goal blocked 11 by turn 1',
      'idle',
      'turn 1 completed',
    ]);
    expect(server.model.requests).toHaveLength(2);
  });

  test.each([
    ['paused', { status: 'paused' as const }, 'goal paused 0'],
    ['complete', { status: 'complete' as const }, 'goal complete 0'],
  ])(
    'when a client sets it to %s in mid-turn: that turn ends as it would',
    async (_status, change, told) => {
      const gate = new Gate();
      const server = await goalOn(response([gate], PLAN), response(message('one')));
      await server.model.asked(1);
      await server.client.request('thread/goal/set', { threadId, ...change });
      gate.open();
      await ended(server, 1);
      expect(story(server.client)).toEqual([
        'goal active 0',
        'active',
        'turn 1 started',
        told,
        'idle',
        'turn 1 completed',
      ]);
      expect(server.model.requests).toHaveLength(2);
    },
  );

  test('when it is cleared during a turn, and nothing more is charged', async () => {
    const gate = new Gate();
    const server = await goalOn(response([gate], PLAN), response(message('one')));
    await server.model.asked(1);
    expect(await server.client.request('thread/goal/clear', { threadId })).toEqual({
      cleared: true,
    });
    gate.open();
    await ended(server, 1);
    expect(story(server.client)).toEqual([
      'goal active 0',
      'active',
      'turn 1 started',
      'goal cleared',
      'idle',
      'turn 1 completed',
    ]);
    expect(server.model.requests).toHaveLength(2);
  });

  test('after an interrupt, also for a resume and after a restart, until the user gives input', async () => {
    const server = await goalOn(response(messageBegun('par'), [new Gate()]));
    const { turn } = await server.client.waitFor('turn/started');
    await server.client.waitFor('item/agentMessage/delta');
    await server.client.request('turn/interrupt', { threadId, turnId: turn.id });
    await ended(server, 1);
    await server.client.request('thread/resume', { threadId });
    await server.client.request('thread/goal/set', { threadId, tokenBudget: 900 });
    await settled(server.client, threadId);
    const { client, model } = await server.restart();
    await client.request('thread/resume', { threadId });
    await settled(client, threadId);
    expect((await client.request('thread/goal/get', { threadId })).goal).toMatchObject({
      status: 'active',
      tokensUsed: 0,
    });
    expect(model.requests).toHaveLength(1);
    model.push(response(message('hello')), response(COMPLETE), response(message('done')));
    await client.turn(threadId, 'go on');
    await goalIs(client, 'complete');
  });

  test('but not after the interrupt of a review, which is not work for the goal', async () => {
    const server = await goalOn([new Gate()], [new Gate()], [new Gate()]);
    await server.model.asked(1);
    const { turn } = await server.client.request('review/start', {
      threadId,
      target: { type: 'custom', instructions: 'Look.' },
    });
    await server.model.asked(2);
    await server.client.request('turn/interrupt', { threadId, turnId: turn.id });
    await server.client.turnCompleted(turn.id);
    expect((await server.store.getThread(threadId))?.goal).toMatchObject({
      status: 'active',
      awaitsUser: false,
    });
    await server.model.asked(3);
    await server.client.request('turn/interrupt', { threadId, turnId: '' });
  });

  test('after an interrupt, until a client sets the goal to active', async () => {
    const server = await goalOn(
      response([new Gate()]),
      response(COMPLETE),
      response(message('done')),
    );
    const { turn } = await server.client.waitFor('turn/started');
    await server.client.request('turn/interrupt', { threadId, turnId: turn.id });
    await ended(server, 1);
    expect(server.model.requests.length).toBeLessThanOrEqual(1);
    await server.client.request('thread/goal/set', { threadId, status: 'active' });
    await server.client.waitFor('turn/started', (params) => params.turn.id !== turn.id);
  });

  test('only until the thread is resumed, when the server ends', async () => {
    const server = await goalOn(response([new Gate()]));
    await server.model.asked(1);
    const { client, model } = await server.restart();
    expect(story(server.client).slice(-2)).toEqual(['idle', 'turn 1 interrupted']);
    model.push(response(COMPLETE), response(message('done')));
    await client.request('thread/resume', { threadId });
    await goalIs(client, 'complete');
  });

  test('when a turn fails: the goal is blocked, or usageLimited if the provider says so', async () => {
    const server = await goalOn([{ type: 'started' }, failed('no')]);
    await ended(server, 1);
    expect(story(server.client)).toEqual([
      'goal active 0',
      'active',
      'turn 1 started',
      'goal blocked 0 by turn 1',
      'systemError',
      'turn 1 failed',
    ]);
    server.model.push([{ type: 'started' }, failed('spent', 'usageLimitExceeded')]);
    await server.client.request('thread/goal/set', { threadId, status: 'active' });
    await ended(server, 2);
    expect(story(server.client).slice(-3)).toEqual([
      'goal usageLimited 0 by turn 2',
      'systemError',
      'turn 2 failed',
    ]);
    expect(server.model.requests).toHaveLength(2);
  });

  test('when the budget is spent: the model is told once and may end its turn; a larger budget with active goes on', async () => {
    const server = await threadAnswering([
      response(PLAN),
      response(PLAN),
      response(PLAN),
      response(message('wrapped up')),
    ]);
    await server.client.request('thread/goal/set', {
      threadId,
      objective: 'all green',
      tokenBudget: 20,
    });
    await ended(server, 1);
    expect(story(server.client).slice(2)).toEqual([
      'turn 1 started',
      'goal active 11 by turn 1',
      'goal budgetLimited 22 by turn 1',
      'goal budgetLimited 33 by turn 1',
      'goal budgetLimited 44 by turn 1',
      'idle',
      'turn 1 completed',
    ]);
    expect(lastText(server, 3)).toContain('Tokens used so far: 22 of 20.');
    expect(
      server.model
        .request(4)
        .input.filter(
          (item) => item.type === 'message' && JSON.stringify(item).includes('used up'),
        ),
    ).toHaveLength(1);
    const set = async (change: object) =>
      ((await server.client.call('thread/goal/set', { threadId, ...change })) as { goal: object })
        .goal;
    expect(await set({ status: 'active' })).toMatchObject({ status: 'budgetLimited' });
    expect(await set({ tokenBudget: 900 })).toMatchObject({ status: 'budgetLimited' });
    server.model.push(response(COMPLETE), response(message('done')));
    expect(await set({ status: 'active' })).toMatchObject({ status: 'active', tokensUsed: 44 });
    await goalIs(server.client, 'complete');
  });

  test('when two turns in a row call no tool: the second is told, and clients get a warning', async () => {
    const server = await goalOn(response(message('one')), response(message('two')));
    await ended(server, 2);
    expect(story(server.client).slice(-4)).toEqual([
      'goal blocked 22 by turn 2',
      'warning',
      'idle',
      'turn 2 completed',
    ]);
    expect(server.client.notifications('warning')).toEqual([
      {
        threadId,
        message:
          'The thread no longer works towards its goal by itself: the agent ended 2 turns without calling a tool. Set the goal to active to go on.',
      },
    ]);
    expect(
      [lastText(server, 1), lastText(server, 2)].map((told) => told.includes('called no tool')),
    ).toEqual([false, true]);
    expect(server.model.requests).toHaveLength(2);
  });

  test('when its turns only call goal tools', async () => {
    const look = functionCall('get_goal', {});
    const server = await goalOn(
      response(look),
      response(message('one')),
      response(look),
      response(message('two')),
    );
    await ended(server, 2);
    expect(story(server.client).slice(-4, -2)).toEqual(['goal blocked 44 by turn 2', 'warning']);
  });

  test('after a hundred turns without input of a client', { tags: 'slow' }, async () => {
    const server = await threadAnswering(
      Array.from({ length: 200 }, (_, index) => response(index % 2 === 0 ? PLAN : message('on'))),
    );
    await server.client.request('thread/goal/set', { threadId, objective: 'all green' });
    await ended(server, 100);
    expect(story(server.client).slice(-4)).toEqual([
      'goal blocked 2200 by turn 100',
      'warning',
      'idle',
      'turn 100 completed',
    ]);
    expect(server.model.requests).toHaveLength(200);
  });

  test('when the next turn cannot be stored: clients get a warning, and it is not tried again', async () => {
    let writes = 0;
    let failedAt = 0;
    const server = await threadAnswering([response(PLAN), response(message('one'))], {
      wrapStore: (store) =>
        gatedStore(store, ({ entries, count }) => {
          writes = count;
          if (!entries.some(({ kind }) => kind === 'turnStarted')) return;
          failedAt++;
          if (failedAt === 2) throw new StoreError('store_full', 'the disk is full');
        }),
    });
    await server.client.request('thread/goal/set', { threadId, objective: 'all green' });
    expect(await server.client.waitFor('warning')).toEqual({
      threadId,
      message: 'The thread could not begin its next turn by itself: the disk is full',
    });
    const before = writes;
    await settled(server.client, threadId);
    expect([writes, failedAt]).toEqual([before, 2]);
  });
});

describe('requests of the user go first', () => {
  test('turn/start during a turn for the goal joins it, and the model reads the input', async () => {
    const server = await goalOn(
      response(messageBegun('par'), [new Gate()]),
      response(COMPLETE),
      response(message('both')),
    );
    const { turn } = await server.client.waitFor('turn/started');
    await server.client.waitFor('item/agentMessage/delta');
    const joined = await server.client.request('turn/start', { threadId, input: text('and this') });
    expect(joined.turn.id).toBe(turn.id);
    expect(await server.client.turnCompleted(turn.id)).toMatchObject({
      status: 'completed',
      items: [agentItem('both')],
    });
    expect(conversation(server.model.request(2)).at(-1)).toEqual(asked('and this'));
  });

  test('turn/start that waits for the end of a turn begins before the next turn for the goal', async () => {
    const gate = new Gate();
    let waits = true;
    const server = await threadAnswering(
      [
        response(message('one')),
        response(message('two')),
        response(COMPLETE),
        response(message('done')),
      ],
      {
        wrapStore: (store) =>
          gatedStore(store, async ({ entries }) => {
            if (!waits || !entries.some(({ kind }) => kind === 'turnEnded')) return;
            waits = false;
            await gate.pass();
          }),
      },
    );
    await server.client.request('thread/goal/set', { threadId, objective: 'all green' });
    await gate.reached;
    const second = server.client.turn(threadId, 'mine');
    await taken(server.client);
    gate.open();
    expect(await second).toMatchObject({ items: [agentItem('two')] });
    await goalIs(server.client, 'complete');
    expect(conversation(server.model.request(2)).at(-1)).toEqual(asked('mine'));
  });

  test('turn/start while a turn for the goal begins waits for it and joins it', async () => {
    const gate = new Gate();
    const server = await threadAnswering([response(COMPLETE), response(message('both'))], {
      wrapStore: (store) =>
        gatedStore(store, ({ entries }) =>
          entries.some(({ kind }) => kind === 'turnStarted') ? gate.pass() : undefined,
        ),
    });
    await server.client.request('thread/goal/set', { threadId, objective: 'all green' });
    await gate.reached;
    const answer = server.client.request('turn/start', { threadId, input: text('mine') });
    await taken(server.client);
    gate.open();
    const { turn } = await server.client.waitFor('turn/started');
    expect((await answer).turn.id).toBe(turn.id);
    await server.client.turnCompleted(turn.id);
    expect(server.client.notifications('turn/started')).toHaveLength(1);
    expect(JSON.stringify(server.model.requests.at(-1)?.input)).toContain('mine');
  });

  test('input of the user resets the count of idle turns', async () => {
    const server = await goalOn(
      response(message('one')),
      response(messageBegun('tw'), [new Gate()]),
    );
    await server.model.asked(2);
    await server.client.waitFor('item/agentMessage/delta', ({ delta }) => delta === 'tw');
    server.model.push(
      response(message('hello')),
      response(message('three')),
      response(message('four')),
    );
    await server.client.request('turn/start', { threadId, input: text('hi') });
    await ended(server, 4);
    expect(story(server.client).slice(-4)[0]).toMatch(/^goal blocked/);
    expect(server.model.requests).toHaveLength(5);
  });
});

describe('two clients', () => {
  test('one pauses the goal that the other set, and both get the same notifications', async () => {
    const gate = new Gate();
    const server = await threadAnswering([response([gate], PLAN), response(message('one'))]);
    const other = await server.connect();
    await other.request('thread/resume', { threadId });
    await server.client.request('thread/goal/set', { threadId, objective: 'all green' });
    await server.model.asked(1);
    await other.request('thread/goal/set', { threadId, status: 'paused' });
    gate.open();
    await ended(server, 1);
    expect(story(other).slice(1)).toEqual(story(server.client));
    expect(server.model.requests).toHaveLength(2);
  });

  test('the goal goes on when one of them leaves', async () => {
    const gate = new Gate();
    const server = await threadAnswering([
      response([gate], PLAN),
      response(message('one')),
      response(COMPLETE),
      response(message('done')),
    ]);
    const other = await server.connect();
    await other.request('thread/resume', { threadId });
    await server.client.request('thread/goal/set', { threadId, objective: 'all green' });
    await server.model.asked(1);
    await server.client.request('thread/unsubscribe', { threadId });
    gate.open();
    await goalIs(other, 'complete');
  });
});

test('an objective that a client changes during a turn reaches the model with the next request of that turn', async () => {
  const gate = new Gate();
  const server = await goalOn(
    response([gate], PLAN),
    response(COMPLETE),
    response(message('done')),
  );
  await server.model.asked(1);
  await server.client.request('thread/goal/set', { threadId, objective: 'only the first half' });
  gate.open();
  await ended(server, 1);
  expect(lastText(server, 2)).toContain('<objective>\nonly the first half\n</objective>');
  expect(lastText(server, 2)).toContain('has changed the goal');
});

test('so does one that is changed while the turn begins', async () => {
  const gate = new Gate();
  const server = await threadAnswering(
    [response(PLAN), response(COMPLETE), response(message('done'))],
    {
      wrapStore: (store) =>
        gatedStore(store, ({ entries }) =>
          entries.some(({ kind }) => kind === 'turnStarted') ? gate.pass() : undefined,
        ),
    },
  );
  await server.client.request('thread/goal/set', { threadId, objective: 'all green' });
  await gate.reached;
  const answer = server.client.request('thread/goal/set', {
    threadId,
    objective: 'only the first half',
  });
  await taken(server.client);
  gate.open();
  expect((await answer).goal).toMatchObject({ objective: 'only the first half', status: 'active' });
  await ended(server, 1);
  expect(JSON.stringify(server.model.request(2).input)).toContain('has changed the goal');
});
