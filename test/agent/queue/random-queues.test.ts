import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Model, ModelEvent, ModelRequest } from '../../../src/model/model.ts';
import { CountingIds } from '../../support/counting-ids.ts';
import { turnsOf } from '../../support/queue.ts';
import { runs } from '../../support/runs.ts';
import { settled } from '../../support/settled.ts';
import { text } from '../../support/test-client.ts';
import { failed, saying } from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';
import { afterDeathOf } from '../after-death-of.ts';
import { QueueModel } from './queue-model.ts';

const RUNS = runs(40);
const OPERATIONS_MAX = 40;
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

const anyKey = fc.constantFrom(...KEYS);
const number = fc.nat(1_000);
const operations = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('add' as const), key: anyKey, number }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('update' as const), key: anyKey, number }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('reorder' as const), number, isWrong: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), key: anyKey }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('start' as const), key: fc.option(anyKey) }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('end' as const),
        status: fc.constantFrom('completed' as const, 'failed' as const, 'interrupted' as const),
      }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('turn' as const), number }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constantFrom('close' as const, 'kill' as const),
        isResumed: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('resume' as const) }) },
  ),
  { maxLength: OPERATIONS_MAX, size: 'max' },
);

type Operation = Parameters<Parameters<typeof operations.map>[0]>[0][number];

/** Answers no request before the test says how. */
class HeldModel implements Model {
  #end: (status: 'completed' | 'failed') => void = () => {};

  /** Ends the running turn. */
  end(status: 'completed' | 'failed'): void {
    this.#end(status);
  }

  async *stream(_request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const status = await new Promise<'completed' | 'failed' | null>((resolve) => {
      this.#end = resolve;
      signal.addEventListener('abort', () => resolve(null), { once: true });
    });
    if (status === 'completed') yield* saying('done') as ModelEvent[];
    if (status === 'failed') yield* [{ type: 'started' } as const, failed('no')];
  }
}

/** A server with one thread, and what the queue of that must be. */
class Player {
  readonly expected = new QueueModel();
  readonly #model = new HeldModel();
  readonly #ids = new CountingIds();
  /** By key: the id that the server has given the entry last. */
  readonly #entries = new Map<string, string>();
  #server!: TestServer;
  #threadId = '';
  #turns = 0;

  async begin(): Promise<void> {
    this.#server = await startServer({ otherModel: this.#model, ids: this.#ids });
    this.#threadId = (await this.#client.request('thread/start', {})).thread.id;
  }

  end(): Promise<void> {
    return this.#server.close();
  }

  async play(operation: Operation): Promise<void> {
    const wanted = await this.#perform(operation);
    if (wanted !== null) {
      const { error } = await wanted.answer;
      expect(error?.data?.code ?? null).toEqual(wanted.code);
    }
    await this.#atRest();
    await this.check();
  }

  /** Compares what clients see with what is expected. */
  async check(): Promise<void> {
    const threadId = this.#threadId;
    const { data, heldBecause } = await this.#client.request('thread/queue/list', { threadId });
    const { waiting, turns } = this.expected;
    expect({
      waiting: data.map(({ clientUserMessageId, input }) => ({
        key: clientUserMessageId,
        words: input.map((part) => ('text' in part ? part.text : '')).join(),
      })),
      heldBecause,
      turns: await turnsOf(this.#client, threadId),
    }).toEqual({
      waiting,
      heldBecause: this.expected.heldBecause,
      turns: turns.map(({ words, status }) => `${words}: ${status}`),
    });
  }

  get #client() {
    return this.#server.client;
  }

  /** Returns the answer to the operation's request, and the error that it must be. */
  async #perform(operation: Operation) {
    const { expected } = this;
    switch (operation.do) {
      case 'add':
        return this.#add(operation.key, `${operation.key}${operation.number}`);
      case 'update': {
        const words = `${operation.key}${operation.number}`;
        const params = { queuedSubmissionId: this.#idOf(operation.key), input: text(words) };
        return this.#asked('update', params, expected.update(operation.key, words));
      }
      case 'reorder': {
        const keys = permuted(
          expected.waiting.map(({ key }) => key),
          operation,
        );
        const params = { queuedSubmissionIds: keys.map((key) => this.#idOf(key)) };
        return this.#asked('reorder', params, expected.reorder(keys));
      }
      case 'delete':
        return this.#asked(
          'delete',
          { queuedSubmissionId: this.#idOf(operation.key) },
          expected.delete(operation.key),
        );
      case 'start': {
        const { key } = operation;
        const params = { queuedSubmissionId: key === null ? null : this.#idOf(key) };
        return this.#asked('start', params, expected.start(key));
      }
      default:
        await this.#interfere(operation);
        return null;
    }
  }

  async #interfere(
    operation: Extract<Operation, { do: 'end' | 'turn' | 'close' | 'kill' | 'resume' }>,
  ): Promise<void> {
    const { expected } = this;
    const threadId = this.#threadId;
    switch (operation.do) {
      case 'end':
        if (expected.isRunning) await this.#endTurn(operation.status);
        return;
      case 'turn':
        if (!expected.isLoaded || expected.isRunning) return;
        await this.#client.request('turn/start', { threadId, input: text(`${operation.number}`) });
        expected.turn(`${operation.number}`);
        return;
      case 'resume':
        await this.#client.request('thread/resume', { threadId });
        if (!expected.isLoaded) expected.resume();
        return;
      default:
        await this.#lose(operation.do);
        if (operation.isResumed) await this.#interfere({ do: 'resume' });
    }
  }

  async #endTurn(status: 'completed' | 'failed' | 'interrupted'): Promise<void> {
    const turnId = this.#client.notifications('turn/started').at(-1)?.turn.id ?? '';
    if (status === 'interrupted')
      await this.#client.request('turn/interrupt', { threadId: this.#threadId, turnId });
    else this.#model.end(status);
    expect((await this.#client.turnCompleted(turnId)).status).toBe(status);
    this.expected.end(status);
  }

  async #lose(how: 'close' | 'kill'): Promise<void> {
    const before = this.#server;
    const options = { otherModel: this.#model, ids: this.#ids };
    this.#server =
      how === 'close' ? await before.restart(options) : await afterDeathOf(before, options);
    await before.close();
    this.expected.lose();
    this.#turns = this.expected.turns.length;
  }

  #add(key: string, words: string) {
    const answer = this.#client.ask('thread/queue/add', {
      threadId: this.#threadId,
      clientUserMessageId: key,
      input: text(words),
    });
    const remembered = answer.then((response) => {
      const { queuedSubmission } = response.result as { queuedSubmission: { id: string } };
      this.#entries.set(key, queuedSubmission.id);
      return response;
    });
    return { answer: remembered, code: this.expected.add(key, words) };
  }

  #asked(name: string, params: object, code: string | null) {
    const threadId = this.#threadId;
    return { answer: this.#client.ask(`thread/queue/${name}`, { threadId, ...params }), code };
  }

  #idOf(key: string): string {
    return this.#entries.get(key) ?? 'unknown';
  }

  /** Resolves when the turn that must run has begun, or else when anything that is due has. */
  async #atRest(): Promise<void> {
    const { turns, isRunning } = this.expected;
    const begun = turns.length - this.#turns;
    if (isRunning)
      await this.#client.first(
        'the start of a turn',
        () => this.#client.notifications('turn/started').length >= begun,
      );
    await settled(this.#client, this.#threadId);
    expect(this.#client.notifications('turn/started')).toHaveLength(begun);
  }
}

/** The keys in another order; if it is wrong, with one twice, or with one that is not there. */
function permuted(keys: string[], { number: by, isWrong }: { number: number; isWrong: boolean }) {
  const turned = keys.map((_, index) => keys[(index + by) % keys.length] ?? '');
  const order = by % 2 === 0 ? turned : turned.reverse();
  if (!isWrong) return order;
  const [first] = order;
  return by % 3 === 0 && first !== undefined
    ? [...order.slice(1), order[1] ?? first]
    : [...order, 'z'];
}

test(`${RUNS} random sequences of changes, ends of turns, restarts and kills: the queue is as the model of it says, and each entry has one turn`, {
  tags: 'seeded',
}, async () => {
  const play = async (played: Operation[]) => {
    const player = new Player();
    await player.begin();
    try {
      for (const operation of played) await player.play(operation);
    } finally {
      await player.end();
    }
  };
  await fc.assert(fc.asyncProperty(operations, play), { numRuns: RUNS, endOnFailure: true });
});
