// @module-tag slow
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ThreadStore, ThreadWriter } from '../../src/store/thread-store.ts';
import { Random } from '../process/hostile/random.ts';
import { builtScript } from '../support/built-script.ts';
import { mortalScript, workerEnds } from '../support/mortal-script.ts';
import { RecordingLog } from '../support/recording-log.ts';
import {
  agentMessage,
  everyThread,
  idOf,
  itemEntry,
  storedItem,
  threadRecord,
  turnEnded,
  turnEntries,
  turnStarted,
  turnsInShort,
  wholeTurn,
} from './samples.ts';
import { workerHome } from './worker-home.ts';

const SCRIPT = 'src/store/sqlite/worker/store.worker.ts';
const SEED = 1;
const LANES = 6;

/** What one thread has done, and so must have: no more and no less. */
class Lane {
  readonly turns: string[] = [];
  name: string | null = null;
  readonly #store: ThreadStore;
  readonly #random: Random;
  readonly #number: number;
  #writer: ThreadWriter | null = null;
  #forks = 0;

  constructor(store: ThreadStore, number: number) {
    this.#store = store;
    this.#number = number;
    this.#random = new Random(SEED * 100 + number);
  }

  get id(): string {
    return idOf(this.#number);
  }

  async step(): Promise<void> {
    this.#writer ??= await this.#store.createThread(threadRecord(this.#number));
    const writer = this.#writer;
    const steps = [
      () => this.#turn(writer, false),
      () => this.#turn(writer, true),
      () => this.#twoAtOnce(writer),
      () => this.#revert(),
      () => this.#fork(),
      () => this.#archive(writer),
      () => this.#rename(),
      () => this.#read(),
    ];
    await this.#random.pick(steps)();
  }

  #nextTurn(): string {
    return `${this.#number}-${this.turns.length}-${this.#random.below(1e9)}`;
  }

  async #turn(writer: ThreadWriter, durable: boolean): Promise<void> {
    const id = this.#nextTurn();
    const item = agentMessage(`${id} m`, 'x'.repeat(this.#random.below(50_000)));
    await writer.append([turnStarted(id)], { patch: { preview: id } });
    await writer.append([], { partials: [storedItem(id, item)] });
    await writer.append([itemEntry(id, item)]);
    await writer.append([turnEnded(id)], { durable });
    this.turns.push(`${id} completed: ${id} m`);
  }

  async #twoAtOnce(writer: ThreadWriter): Promise<void> {
    const ids = [`${this.#nextTurn()}a`, `${this.#nextTurn()}b`];
    await Promise.all(ids.map((id) => writer.append(turnEntries(id), { durable: true })));
    this.turns.push(...ids.map(wholeTurn));
  }

  async #revert(): Promise<void> {
    const last = this.turns.at(-1)?.split(' ')[0];
    if (last === undefined) return;
    const updatedAtMs = this.#random.below(1e9);
    expect(await this.#store.revertThread(this.id, last, { updatedAtMs })).toMatchObject({
      updatedAtMs,
    });
    this.turns.pop();
  }

  async #fork(): Promise<void> {
    const id = idOf(this.#number * 1000 + ++this.#forks);
    const fork = await this.#store.forkThread(
      this.id,
      null,
      threadRecord(0, { id, path: `/forks/${id}` }),
    );
    await fork.append(turnEntries('of the fork'));
    expect(await turnsInShort(this.#store, id)).toEqual([...this.turns, wholeTurn('of the fork')]);
    await fork.close();
    await this.#store.deleteThread(id);
    expect(await this.#store.getThread(id)).toBeNull();
  }

  async #archive(writer: ThreadWriter): Promise<void> {
    await writer.close();
    const atMs = 1 + this.#random.below(1e9);
    expect(await this.#store.archiveThread(this.id, atMs)).toMatchObject({ archivedAtMs: atMs });
    expect(await this.#store.unarchiveThread(this.id, atMs + 1)).toMatchObject({
      archivedAtMs: null,
    });
    this.#writer = await this.#store.openWriter(this.id);
  }

  async #rename(): Promise<void> {
    this.name = `name ${this.#random.below(1e9)}`;
    expect(await this.#store.updateThread(this.id, { name: this.name })).toMatchObject({
      name: this.name,
    });
  }

  async #read(): Promise<void> {
    expect(await turnsInShort(this.#store, this.id)).toEqual(this.turns);
    await this.#store.listThreads(everyThread);
  }
}

/**
 * The moments at which threads end, how many by default, and the most such moments that a thread
 * lives. One lives to its first: ends in a row.
 */
const MOMENTS = [
  ['message', 60, 40],
  ['commit', 15, 60],
  ['commit', 4, 1],
  ['flush', 8, 12],
  ['flush', 4, 1],
] as const;

test.each(MOMENTS)(
  'the thread of the store ends at a random %s, %i times within %i: every call is made once, and none is refused',
  {
    timeout: 600_000,
  },
  async (moment, byDefault, momentsMax) => {
    const home = workerHome();
    // A call with which five threads have died is refused.
    const ends = momentsMax === 1 ? byDefault : workerEnds(byDefault);
    const log = new RecordingLog();
    const script = join(home.folder, 'mortal.cjs');
    const { ended } = mortalScript(script, builtScript(SCRIPT), {
      seed: SEED,
      count: ends,
      messagesMax: momentsMax,
      moment,
    });
    const store = home.open(undefined, { script, log });
    const lanes = Array.from({ length: LANES }, (_, index) => new Lane(store, index + 1));
    do await Promise.all(lanes.map((lane) => lane.step()));
    while (ended() < ends);
    await store.close();
    const after = home.open();
    for (const lane of lanes) {
      expect(await turnsInShort(after, lane.id)).toEqual(lane.turns);
      expect(await after.getThread(lane.id)).toMatchObject({ name: lane.name, archivedAtMs: null });
    }
    expect(log.errors()).toHaveLength(ends);
  },
);
