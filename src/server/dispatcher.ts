import { EventLoopYield } from '../base/event-loop-yield.ts';
import { jsonText } from '../base/json-text.ts';
import { KeyedQueue } from '../base/keyed-queue.ts';
import type { Log } from '../base/log.ts';
import { ConfigError } from '../config/config-error.ts';
import type { AnyMethod, CallContext, Caller, MethodTable } from '../handlers/method.ts';
import { methods } from '../protocol/generated/methods.ts';
import type { ClientRequests } from '../protocol/generated/types.ts';
import { experimentalField, paramsProblem } from '../protocol/params-problem.ts';
import {
  configInvalid,
  fromStore,
  internal,
  invalidParams,
  needsExperimentalApi,
  notInitialized,
  notServed,
  RpcError,
  unknownMethod,
} from '../protocol/rpc-error.ts';
import { StoreError } from '../store/store-error.ts';

/**
 * Checks a request and passes it to its handler: the handshake must be complete, the method known and allowed, the params valid.
 * Rejects only with RpcErrors.
 */
export class Dispatcher {
  readonly #rows: MethodTable;
  readonly #log: Log;
  readonly #queue = new KeyedQueue();
  #queued = 0;
  #inFlight = 0;
  /** Shared by all results that are built in parts, so that together they do not take longer at a time than one. */
  readonly #pace = new EventLoopYield();

  constructor(rows: MethodTable, log: Log) {
    this.#rows = rows;
    this.#log = log;
  }

  /** The number of requests whose handlers run. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** The number of requests that wait in a queue, or for their client to read. */
  get queued(): number {
    return this.#queued;
  }

  async request(caller: Caller, method: string, params: unknown): Promise<unknown> {
    if (caller.client === null && method !== 'initialize') throw notInitialized();
    const known = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (known === undefined) throw unknownMethod(method);
    if (known.stability === 'experimental' && !caller.experimentalApi) throw needsExperimentalApi(method);
    if (!isServed(this.#rows, method)) throw notServed(method);
    const checked = paramsProblem(method, params);
    const problem = checked instanceof Promise ? await checked : checked;
    if (problem !== null) throw invalidParams(problem);
    const field = caller.experimentalApi ? null : experimentalField(method, params);
    if (field !== null) throw needsExperimentalApi(field);
    try {
      return await this.#call({ row: this.#rows[method], caller, params: params as never });
    } catch (error) {
      throw this.#toRpcError(error, method);
    }
  }

  /**
   * Resolves with the handler's result. If the handler registered effects, the next request in the queue waits until they have
   * run, one turn of the event loop later: by then vscode-jsonrpc has written the response. (A notification sent inside a
   * handler, or in a microtask after it, would be written before the response.)
   */
  #call({ row, caller, params }: { row: AnyMethod; caller: Caller; params: never }): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const run = async () => {
        const effects: (() => void)[] = [];
        const sent: (() => void)[] = [];
        try {
          const backlog = caller.ready();
          if (backlog !== null) await backlog;
          const after = (effect: () => void) => effects.push(effect);
          const result = await this.#handle(row, params, { caller, after, answerInParts: (callback) => sent.push(callback) });
          resolve(sent.length > 0 ? await jsonText(result, this.#pace) : result);
        } catch (error) {
          effects.length = 0;
          reject(error);
        }
        const later = [...sent, ...effects];
        if (later.length > 0) await new Promise((done) => setImmediate(done));
        for (const run of later) run();
      };
      this.#queued++;
      const settled = row.queue === null ? run() : this.#queue.run(row.queue(params), run);
      settled.catch((error: unknown) => this.#log.error({ err: error }, 'an effect after the response failed'));
    });
  }

  async #handle(row: AnyMethod, params: never, context: CallContext): Promise<unknown> {
    this.#queued--;
    this.#inFlight++;
    try {
      return await row.handle(params, context);
    } finally {
      this.#inFlight--;
    }
  }

  #toRpcError(error: unknown, method: string): RpcError {
    if (error instanceof RpcError) return error;
    if (error instanceof StoreError) return fromStore(error.code, error.message, error.details);
    if (error instanceof ConfigError) return configInvalid(error.message);
    this.#log.error({ err: error, method }, 'a handler failed');
    return internal(error instanceof Error ? error.message : String(error));
  }
}

function isServed(rows: MethodTable, method: string): method is keyof ClientRequests {
  return Object.hasOwn(rows, method);
}
