import { jsonWeight } from '../../../base/text/json-pieces.ts';
import { CallLane } from './call-lane.ts';
import { READ_BYTES, STORE_METHODS, type StoreCall, type StoreMethod } from './store-call.ts';

/**
 * The most that the calls of a lane on their way need together. A larger one is on its way by
 * itself.
 */
const LANE_BYTES_MAX = 32 * 1024 * 1024;
/** Longer writes have a lane of their own, so that others do not wait for all of them. */
const SHORT_BYTES_MAX = 1024 * 1024;
/** A call that waits for its answer. */
export interface Waiting {
  call: StoreCall;
  bytes: number;
  lane: CallLane<Waiting>;
  /** How many workers have died with the call. */
  deaths: number;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** The calls that wait for the worker of the store: reads, writes, and long writes. */
export class CallLanes {
  readonly #reads = new CallLane<Waiting>(LANE_BYTES_MAX);
  readonly #writes = new CallLane<Waiting>(LANE_BYTES_MAX);
  readonly #longWrites = new CallLane<Waiting>(LANE_BYTES_MAX);

  get isEmpty(): boolean {
    return [this.#reads, this.#writes, this.#longWrites].every(({ isEmpty }) => isEmpty);
  }

  add(waiting: Omit<Waiting, 'bytes' | 'lane'>): void {
    const { method, args } = waiting.call;
    const readBytes =
      READ_BYTES[method === 'readPiece' ? 'piece' : STORE_METHODS[method as StoreMethod]];
    const bytes = readBytes ?? jsonWeight(args, LANE_BYTES_MAX);
    const writes = bytes > SHORT_BYTES_MAX ? this.#longWrites : this.#writes;
    const lane = readBytes === undefined ? writes : this.#reads;
    lane.add({ ...waiting, bytes, lane });
  }

  /** Removes and returns the calls that the thread can get now, or all. */
  take({ all }: { all: boolean }): Waiting[] {
    return [this.#reads, this.#longWrites, this.#writes].flatMap((lane) => lane.take({ all }));
  }
}
