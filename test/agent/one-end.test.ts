// @module-tag slow
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ModelEvent } from '../../src/model/model.ts';
import type { LogEntry } from '../../src/store/log-entry.ts';
import { gatedStore } from '../support/gated-store.ts';
import { type Message, type TestClient, text } from '../support/test-client.ts';
import {
  failed as failure,
  functionCall,
  message,
  response,
  retrying,
  TestModel,
} from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const HOUR_MS = 60 * 60 * 1000;

/**
 * The next step of a client, after some rounds of the event loop. `on`: which of the threads. `by`:
 * which client.
 */
interface Move {
  act: (typeof ACTS)[number];
  on: number;
  by: 0 | 1;
  rounds: number;
}

const ACTS = [
  'start',
  'start',
  'steer',
  'interrupt',
  'accept',
  'decline',
  'cancel',
  'error',
  'inject',
  'review',
  'detach',
  'fork',
  'archive',
  'revert',
  'unload',
  'leave',
] as const;

/**
 * How a run ends: every question is answered, the server is closed, or the client closes its side
 * and the server drains.
 */
const ENDS = ['answer', 'close', 'drain'] as const;

const KINDS = ['message', 'patch', 'patches', 'plan', 'unknown', 'fail', 'retry', 'slow'] as const;

const moves = fc.array(
  fc.record<Move>({
    act: fc.constantFrom(...ACTS),
    on: fc.nat(3),
    by: fc.constantFrom(0, 1),
    rounds: fc.nat(6),
  }),
  {
    minLength: 3,
    maxLength: 14,
  },
);

let files = 0;

function patch(callId: string): ModelEvent[] {
  const input = `*** Begin Patch\n*** Add File: file-${++files}.txt\n+text\n*** End Patch\n`;
  return [
    {
      type: 'itemCompleted',
      item: {
        type: 'custom_tool_call',
        id: `ctc_${callId}`,
        call_id: callId,
        name: 'apply_patch',
        input,
      },
    },
  ];
}

function eventsOf(kind: (typeof KINDS)[number], nth: number): ModelEvent[] {
  const id = `msg_${nth}`;
  const whole = (...parts: ModelEvent[][]) => response(...parts) as ModelEvent[];
  switch (kind) {
    case 'patch':
      return whole(patch(`c${nth}`));
    case 'patches':
      return whole(message('two', { id }), patch(`a${nth}`), patch(`b${nth}`));
    case 'plan':
      return whole(functionCall('update_plan', { plan: [] }, { callId: `p${nth}` }));
    case 'unknown':
      return whole(
        functionCall('none', {}, { callId: `u${nth}` }),
        functionCall('none', {}, { callId: `u${nth}` }),
      );
    case 'fail':
      return [...message('so far', { id }), failure('no more')];
    case 'retry':
      return [
        ...message('so far', { id }).slice(0, 2),
        retrying('again'),
        ...whole(message('whole', { id: `${id}r` })),
      ];
    default:
      return whole(message('done', { id }));
  }
}

async function* paced(
  events: ModelEvent[],
  rounds: number,
): AsyncGenerator<ModelEvent, void, undefined> {
  for (const event of events) {
    for (let round = 0; round < rounds; round++)
      await new Promise((resolve) => setImmediate(resolve));
    yield event;
  }
}

/** One run: two clients, the threads that they know, and everything that was stored. */
class Run {
  readonly server: TestServer;
  readonly entries: LogEntry[];
  readonly threads: string[] = [];
  readonly accepted = new Set<string>();
  readonly #clients: TestClient[] = [];
  readonly #answers: Promise<unknown>[] = [];
  readonly #settled = new Set<unknown>();
  #left = false;

  constructor(server: TestServer, entries: LogEntry[], other: TestClient) {
    this.server = server;
    this.entries = entries;
    this.#clients.push(server.client, other);
  }

  async begin(): Promise<void> {
    const { thread } = await this.server.client.request('thread/start', {
      approvalPolicy: 'untrusted',
      sandbox: 'workspace-write',
    });
    this.threads.push(thread.id);
    await this.#clients[1]?.request('thread/resume', { threadId: thread.id });
  }

  async move({ act, on, by, rounds }: Move): Promise<void> {
    for (let round = 0; round < rounds; round++)
      await new Promise((resolve) => setImmediate(resolve));
    const threadId = this.threads[on % this.threads.length] ?? '';
    const client = (this.#left ? this.server.client : this.#clients[by]) as TestClient;
    switch (act) {
      case 'start':
        return this.#ask(client, 'turn/start', { threadId, input: text('start') });
      case 'steer':
        return this.#ask(client, 'turn/steer', {
          threadId,
          expectedTurnId: this.#running(threadId),
          input: text('steer'),
        });
      case 'interrupt':
        return this.#ask(client, 'turn/interrupt', { threadId, turnId: this.#running(threadId) });
      case 'inject': {
        const note = {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_text', text: 'note' }],
        };
        return this.#ask(client, 'thread/inject_items', { threadId, items: [note] });
      }
      case 'review':
        return this.#ask(client, 'review/start', {
          threadId,
          target: { type: 'uncommittedChanges' },
        });
      case 'detach':
        return this.#ask(this.server.client, 'review/start', {
          threadId,
          delivery: 'detached',
          target: { type: 'custom', instructions: 'x' },
        });
      case 'fork':
        return this.#ask(this.server.client, 'thread/fork', { threadId });
      case 'archive':
        this.#ask(client, 'thread/archive', { threadId });
        this.#ask(client, 'thread/unarchive', { threadId });
        return this.#ask(this.server.client, 'thread/resume', { threadId });
      case 'revert':
        return this.#ask(client, 'thread/revert', {
          threadId,
          beforeTurnId: this.#running(threadId),
        });
      case 'unload':
        for (const one of this.#left ? [this.server.client] : this.#clients)
          this.#ask(one, 'thread/unsubscribe', { threadId });
        await new Promise((resolve) => setImmediate(resolve));
        this.server.clock.advance(HOUR_MS);
        return this.#ask(this.server.client, 'thread/resume', { threadId });
      case 'leave':
        if (!this.#left) await this.leave();
        return;
      default:
        return this.#answer(client, act);
    }
  }

  async leave(): Promise<void> {
    this.#left = true;
    await this.#clients[1]?.close();
  }

  /** Ends the run. Afterwards every turn has ended. */
  async end(how: (typeof ENDS)[number]): Promise<void> {
    const { client } = this.server;
    await Promise.all(this.#answers);
    if (how === 'answer') {
      for (const threadId of this.threads) await this.#idle(threadId);
      return;
    }
    if (how === 'drain') {
      if (!this.#left) await this.leave();
      await client.close();
    }
    await this.server.close();
  }

  /** Resolves when the thread is idle. Declines what it asks until then. */
  async #idle(threadId: string): Promise<void> {
    const { client } = this.server;
    for (;;) {
      await client.request('thread/resume', { threadId, excludeTurns: true });
      const { thread } = await client.request('thread/read', { threadId });
      if (thread.status.type !== 'active') return;
      for (const { id } of this.#open(client))
        this.#reply(client, { id, result: { decision: 'decline' } });
    }
  }

  #ask(client: TestClient, method: string, params: object): void {
    const answered = client.ask(method, params).then(({ result, error }) => {
      const { turn, thread, reviewThreadId } = (result ?? {}) as {
        turn?: { id: string };
        thread?: { id: string };
        reviewThreadId?: string;
      };
      if ((method === 'turn/start' || method === 'review/start') && turn !== undefined)
        this.accepted.add(turn.id);
      if (method === 'thread/fork' && thread !== undefined) this.threads.push(thread.id);
      if (reviewThreadId !== undefined && !this.threads.includes(reviewThreadId))
        this.threads.push(reviewThreadId);
      expect(error?.code ?? -32600).toBe(-32600);
    });
    this.#answers.push(answered);
  }

  #answer(client: TestClient, act: string): void {
    const [open] = this.#open(client);
    if (open === undefined) return;
    if (act === 'error')
      this.#reply(client, { id: open.id, error: { code: -32601, message: 'none' } });
    else this.#reply(client, { id: open.id, result: { decision: act } });
  }

  #open(client: TestClient): Message[] {
    return client.messages.filter(
      ({ id, method }) => method?.endsWith('/requestApproval') && !this.#settled.has(`${id}`),
    );
  }

  #reply(client: TestClient, reply: { id: unknown; result?: object; error?: object }): void {
    this.#settled.add(`${reply.id}`);
    client.send(JSON.stringify(reply));
  }

  #running(threadId: string): string {
    const started = this.server.client.notifications(
      'turn/started',
      (params) => params.threadId === threadId,
    );
    return started.at(-1)?.turn.id ?? '';
  }
}

/** The ids of a kind of entry, sorted. */
function ids(
  entries: readonly LogEntry[],
  idOfEntry: (entry: LogEntry) => string | null,
): string[] {
  return entries.flatMap((entry) => idOfEntry(entry) ?? []).sort();
}

function checkEntries({ entries, accepted }: Run): void {
  const started = ids(entries, (entry) => (entry.kind === 'turnStarted' ? entry.turnId : null));
  const ended = ids(entries, (entry) => (entry.kind === 'turnEnded' ? entry.turnId : null));
  expect(ended).toEqual(started);
  expect(started.filter((id) => accepted.has(id))).toEqual([...accepted].sort());
  const isItem = (entry: LogEntry, type: string) =>
    entry.kind === 'item' && entry.item.type === type ? entry.turnId : null;
  const entered = ids(entries, (entry) => isItem(entry, 'enteredReviewMode'));
  expect(ids(entries, (entry) => isItem(entry, 'exitedReviewMode'))).toEqual(entered);
  expect(
    ids(entries, (entry) => (entry.kind === 'turnStarted' && entry.isReview ? entry.turnId : null)),
  ).toEqual(entered);
  const calls = ids(entries, (entry) =>
    entry.kind === 'model' &&
    (entry.item.type === 'custom_tool_call' || entry.item.type === 'function_call')
      ? `${entry.turnId} ${entry.item.call_id}`
      : null,
  );
  const outputs = ids(entries, (entry) =>
    entry.kind === 'model' &&
    (entry.item.type === 'custom_tool_call_output' || entry.item.type === 'function_call_output')
      ? `${entry.turnId} ${entry.item.call_id}`
      : null,
  );
  expect(outputs).toEqual(calls);
  const open = entries.filter(
    (entry) =>
      entry.kind === 'item' &&
      entry.item.type === 'fileChange' &&
      entry.item.status === 'inProgress',
  );
  expect(open).toEqual([]);
}

function checkMessages({ client }: TestServer): void {
  const told = new Map<string, number>();
  for (const { turn } of client.notifications('turn/completed'))
    told.set(turn.id, (told.get(turn.id) ?? 0) + 1);
  expect([...told].filter(([, count]) => count !== 1)).toEqual([]);
  const over = new Set(client.notifications('turn/completed').map(({ turn }) => turn.id));
  const isOver = ({ turnId, item }: { turnId: string; item: { type: string } }) =>
    over.has(turnId) && item.type === 'fileChange';
  const begun = client
    .notifications('item/started', isOver)
    .map(({ turnId, item }) => `${turnId} ${item.id}`);
  const completed = client
    .notifications('item/completed', isOver)
    .map(({ turnId, item }) => `${turnId} ${item.id}`);
  expect(begun.filter((id) => completed.filter((other) => other === id).length !== 1)).toEqual([]);
}

test('whatever clients do, every accepted turn has one end, every call one output, no item stays open, and all requests are answered', async () => {
  await fc.assert(
    fc.asyncProperty(
      moves,
      fc.array(fc.constantFrom(...KINDS), { maxLength: 10 }),
      fc.constantFrom(...ENDS),
      async (plan, kinds, how) => {
        const entries: LogEntry[] = [];
        const responses = Array.from({ length: 60 }, (_, nth) => {
          const kind = kinds[nth] ?? 'message';
          return () => paced(eventsOf(kind, nth), kind === 'slow' ? 4 : 0);
        });
        const server = await startServer({
          model: new TestModel(...responses),
          drain: true,
          wrapStore: (store) => gatedStore(store, (write) => void entries.push(...write.entries)),
        });
        const run = new Run(server, entries, await server.connect());
        await run.begin();
        for (const move of plan) await run.move(move);
        await run.end(how);
        await server.close();
        checkEntries(run);
        checkMessages(server);
      },
    ),
    { numRuns: 40 },
  );
}, 120_000);
