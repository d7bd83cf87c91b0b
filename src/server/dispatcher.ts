import { EventLoopYield } from '../base/event-loop-yield.ts';
import { isObject } from '../base/json-value.ts';
import { KeyedQueue } from '../base/keyed-queue.ts';
import type { Log } from '../base/log.ts';
import { jsonText } from '../base/text/json-text.ts';
import { suggestKey } from '../base/text/suggest-key.ts';
import { ConfigError } from '../config/toml/config-error.ts';
import type {
  AnyMethod,
  Caller,
  HandshakeMethods,
  RequestContext,
  RequestMethods,
} from '../handlers/requested/method.ts';
import { methods } from '../protocol/generated/methods.ts';
import { experimentalField, notServedField, paramsProblem } from '../protocol/params-problem.ts';
import {
  configInvalid,
  draining,
  fromStore,
  internal,
  invalidParams,
  needsExperimentalApi,
  notInitialized,
  notServed,
  RpcError,
  shuttingDown,
  unknownMethod,
} from '../protocol/rpc-error.ts';
import { StoreError } from '../store/store-error.ts';
import type { ClientAnswer } from './clients.ts';
import { MessageOrder } from './message-order.ts';

/** A request whose params are valid. */
interface Call {
  row: AnyMethod;
  caller: Caller;
  params: never;
}

interface DispatcherOptions {
  handshake: HandshakeMethods;
  /** The rows of all other methods, or a promise until they are loaded. */
  rows: () => RequestMethods | Promise<RequestMethods>;
  log: Log;
}

interface Outcome {
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  effective: () => void;
}

/**
 * Checks a request and passes it to its handler: the handshake must be complete, the method known
 * and allowed, the params valid. Rejects only with RpcErrors.
 */
export class Dispatcher {
  readonly #handshake: HandshakeMethods;
  readonly #rows: DispatcherOptions['rows'];
  readonly #log: Log;
  readonly #queue = new KeyedQueue();
  readonly #order = new MessageOrder();
  /** By connection, the requests that its later ones wait for. */
  readonly #first = new KeyedQueue();
  #queued = 0;
  #inFlight = 0;
  #isEnding = false;
  #isDraining = false;
  /**
   * Shared by all results that are built in parts, so that together they do not take longer at a
   * time than one.
   */
  readonly #pace = new EventLoopYield();

  constructor({ handshake, rows, log }: DispatcherOptions) {
    this.#handshake = handshake;
    this.#rows = rows;
    this.#log = log;
  }

  /** The number of requests whose handlers run. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * The server ends: requests that have not begun are refused, and those that fail because of it
   * say so.
   */
  end(): void {
    this.#isEnding = true;
  }

  /** From now on, requests that begin a turn are refused. */
  drain(): void {
    this.#isDraining = true;
  }

  /** The number of requests that wait in a queue, or for their client to read. */
  get queued(): number {
    return this.#queued;
  }

  async request(caller: Caller, method: string, params: unknown): Promise<unknown> {
    if (caller.client === null && method !== 'initialize') throw notInitialized();
    const known = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (known === undefined) throw unknownMethod(method, methodMeant(method));
    if (known.stability === 'experimental' && !caller.experimentalApi)
      throw needsExperimentalApi(method);
    if (!known.served) throw notServed(method);
    try {
      const checked = paramsProblem(method, params);
      const problem = checked instanceof Promise ? await checked : checked;
      if (problem !== null) throw invalidParams(problem);
      const field = caller.experimentalApi ? null : experimentalField(method, params);
      if (field !== null) throw needsExperimentalApi(field);
      const notSupported = notServedField(method, params);
      if (notSupported !== null) throw notServed(notSupported);
      if (this.#isEnding) throw shuttingDown();
      const found = this.#row(method);
      const row = found instanceof Promise ? await found : found;
      return await this.#call({ row, caller, params: params as never });
    } catch (error) {
      throw this.#toRpcError(error, method);
    }
  }

  /**
   * The row of a served method. Returns a promise only for the first requests, which wait for the
   * rows in their order.
   */
  #row(method: string): AnyMethod | Promise<AnyMethod> {
    if (method === 'initialize') return this.#handshake.initialize;
    const rows = this.#rows();
    const row = (loaded: RequestMethods) => loaded[method as keyof RequestMethods];
    return rows instanceof Promise ? rows.then(row) : row(rows);
  }

  /** Takes a client's answer in its order with the client's other messages. Never rejects. */
  answer(caller: Caller, { threadId, take }: ClientAnswer): Promise<void> {
    const failed = (error: unknown) =>
      this.#log.error({ err: error }, "a client's answer could not be taken");
    return new Promise((resolve) => {
      const run = async () => {
        await take().catch(failed);
        // One turn of the event loop later, the turn that asked has taken the answer.
        await new Promise((done) => setImmediate(done));
        resolve();
      };
      if (threadId === null) void run();
      else this.#order.run(laneOf(caller, threadId), { urgent: true }, run);
    });
  }

  /**
   * Resolves with the handler's result. A request about a thread starts when the earlier ones of
   * its client about that thread are done; one without a queue, when they have taken effect. All
   * others start when the earlier ones of their client that set something up are done. A client
   * that does not read its responses keeps only its own requests waiting.
   */
  #call({ row, caller, params }: Call): Promise<unknown> {
    const threadId = threadOf(params);
    const { queue, kind } = row.order;
    const isUrgent = queue === null && threadId !== null;
    const earlier = isUrgent ? null : this.#first.tail(`${caller.id}`);
    this.#queued++;
    return new Promise((resolve, reject) => {
      const run = async (effective: () => void) => {
        if (earlier !== null) await earlier;
        const backlog = caller.ready();
        if (backlog !== null) await backlog;
        const work = () => this.#run({ row, caller, params }, { resolve, reject, effective });
        const settled = queue === null ? work() : this.#queue.run(queue(params), work);
        await settled.catch((error: unknown) =>
          this.#log.error({ err: error }, 'an effect after the response failed'),
        );
      };
      if (kind === 'setsUp') void this.#first.run(`${caller.id}`, () => run(() => {}));
      else if (threadId === null) void run(() => {});
      else
        this.#order.run(
          laneOf(caller, threadId),
          { urgent: isUrgent, reads: kind === 'reads' },
          run,
        );
    });
  }

  /**
   * Runs the handler. If it registered effects, they run one turn of the event loop later: by then
   * vscode-jsonrpc has written the response. (A notification sent inside a handler, or in a
   * microtask after it, would be written before the response.)
   */
  async #run(
    { row, caller, params }: Call,
    { resolve, reject, effective }: Outcome,
  ): Promise<void> {
    const effects: (() => void | Promise<void>)[] = [];
    const sent: (() => void)[] = [];
    const after = (effect: () => void | Promise<void>) => effects.push(effect);
    try {
      const handled = this.#handle(row, params, {
        caller,
        after,
        effective,
        answerInParts: (callback) => sent.push(callback),
      });
      // A request without a queue has taken effect by now, unless it has registered effects.
      if (row.order.queue === null && effects.length === 0) effective();
      const result = await handled;
      resolve(sent.length > 0 ? await jsonText(result, this.#pace) : result);
    } catch (error) {
      effects.length = 0;
      reject(error);
    }
    const later = [...sent, ...effects];
    if (later.length > 0) await new Promise((done) => setImmediate(done));
    for (const run of later) {
      const running = run();
      if (running !== undefined) await running;
    }
  }

  async #handle(row: AnyMethod, params: never, context: RequestContext): Promise<unknown> {
    this.#queued--;
    this.#inFlight++;
    try {
      if (this.#isEnding) throw shuttingDown();
      if (this.#isDraining && row.beginsTurn) throw draining();
      return await row.handle(params, context);
    } finally {
      this.#inFlight--;
    }
  }

  #toRpcError(error: unknown, method: string): RpcError {
    if (this.#isEnding) return shuttingDown();
    if (error instanceof RpcError) return error;
    if (error instanceof StoreError) return fromStore(error.code, error.message, error.details);
    if (error instanceof ConfigError) return configInvalid(error.message);
    this.#log.error({ err: error, method }, 'a handler failed');
    return internal(error instanceof Error ? error.message : String(error));
  }
}

/** The thread that params name; null if they name none. */
function threadOf(params: unknown): string | null {
  return isObject(params) && typeof params.threadId === 'string' ? params.threadId : null;
}

function laneOf({ id }: Caller, threadId: string): string {
  return `${id} ${threadId}`;
}

/** The end of the error about a method that the protocol does not have. Null: none resembles it. */
function methodMeant(method: string): string | null {
  if (method === 'initialized') return 'this is a notification: send it without an id';
  const nearest = suggestKey(
    method,
    Object.keys(methods).filter((name) => methods[name]?.served),
  );
  return nearest === null ? null : `did you mean ${nearest}?`;
}
