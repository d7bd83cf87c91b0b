import { isObject } from '../../base/json-value.ts';
import type { Client } from '../../client/client.ts';
import type { WireMessage } from '../../client/client-options.ts';
import { ConnectionError } from '../../client/request-error.ts';
import { answerHint, answerShape } from './answer-shape.ts';
import { LineError } from './line-error.ts';
import { OpenRequests } from './open-requests.ts';
import { readAnswer, TURN_COMPLETED, type WireLine } from './parse-line.ts';
import type { ProtocolFields, Shape } from './protocol-fields.ts';
import type { Recorder } from './recorder.ts';
import { References } from './references.ts';
import { RunningWork } from './running-work.ts';
import { unknownNameProblems } from './unknown-name-problems.ts';
import type { WireScreen } from './wire-screen.ts';

/**
 * How a line has come: a person has typed it, or it was read from a file or pipe, whose lines wait
 * for what comes before them.
 */
export type Source = 'typed' | 'read';

export interface SessionParts {
  client: Client;
  fields: ProtocolFields;
  /** Null: nothing is saved. */
  recorder: Recorder | null;
  screen: WireScreen;
  version: string;
  /** Aborts when nothing more can be sent. */
  signal: AbortSignal;
}

type Line<Kind extends WireLine['kind']> = Extract<WireLine, { kind: Kind }>;

/** A client whose messages are lines. */
export class WireSession {
  #hasFailed = false;
  /** The last message of each method, and the last response under an empty name. */
  readonly #last = new Map<string, unknown>();
  readonly #parts: SessionParts;
  readonly #references = new References();
  readonly #open: OpenRequests;
  readonly #work = new RunningWork();
  #pending = 0;
  /** The methods of the notifications since the last line. */
  #since = new Set<string>();
  #handshake: Promise<unknown> | null = null;
  readonly #waiting = new Set<() => void>();

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const { client, fields, screen } = parts;
    this.#open = new OpenRequests(client, fields, {
      opened: ({ method, params }) => {
        if (screen.isTerminal)
          screen.note(`  ${answerHint(answerShape(method, params, fields), fields)}`);
        this.#wake();
      },
      closed: () => this.#wake(),
    });
    parts.signal.addEventListener('abort', () => this.#wake());
  }

  /** Whether a line was wrong, a request was refused, or what one has started has failed. */
  get hasFailed(): boolean {
    return this.#hasFailed || this.#work.hasFailed;
  }

  /** Records a failure, such as of a line. */
  fail(): void {
    this.#hasFailed = true;
  }

  /**
   * The shape of the answer for the request of the server with this id, or for the oldest one.
   * Empty: it is not open.
   */
  answerShape(id: number | null): Shape {
    const request = this.#open.find(id);
    return request === undefined
      ? []
      : answerShape(request.method, request.params, this.#parts.fields);
  }

  /** Takes note of a message before the client processes it. */
  observe({ direction, message }: WireMessage): void {
    const { method, params, result } = message;
    if (direction === 'sent') {
      this.#work.sent(message);
      return;
    }
    this.#last.set(typeof method === 'string' ? method : '', message);
    if (typeof method === 'string') {
      if (isObject(params)) this.#observeNotification(method, params);
    } else {
      this.#references.takeResult(result);
      this.#work.answered(message);
    }
    this.#wake();
  }

  /**
   * The last message of the server with this method, or the last response. Undefined: there was
   * none.
   */
  last(method: string | null): unknown {
    return this.#last.get(method ?? '');
  }

  /** Does what the line says. Rejects with a LineError if that is not possible. */
  async take(line: WireLine, source: Source): Promise<void> {
    switch (line.kind) {
      case 'send':
        // While a request of the server is open, the response may wait for its answer.
        if (source === 'read' && !line.now)
          await this.#until(() => this.#pending === 0 || !this.#open.isEmpty);
        return this.#send(line);
      case 'answer':
      case 'refuse':
        return this.#answer(line, source);
      case 'wait':
        if (source === 'typed') throw new LineError('wait: only lines of files and pipes can wait');
        return this.#wait(line);
      default:
        return;
    }
  }

  /**
   * Resolves when all requests are answered and nothing that they have started runs. No line can
   * answer the requests of the server any more: they are refused.
   */
  settle(): Promise<void> {
    return this.#untilRefusing(() => this.#pending === 0 && this.#work.isOver);
  }

  /** Interrupts the turns that run. Returns whether there are any. */
  interrupt(): boolean {
    const { turns } = this.#work;
    for (const [turnId, threadId] of turns)
      void this.#send({
        kind: 'send',
        method: 'turn/interrupt',
        params: { threadId, turnId },
        now: true,
      }).catch((error: unknown) => {
        if (!(error instanceof LineError)) throw error;
      });
    return turns.length > 0;
  }

  async #send({ method, params, now }: Line<'send'>): Promise<void> {
    const { client, fields } = this.#parts;
    if (this.#parts.signal.aborted) return;
    for (const problem of unknownNameProblems(method, params, fields))
      this.#parts.screen.problem(problem);
    const resolved = this.#references.resolved(params);
    await this.#begin(method);
    const saved = params === undefined ? {} : { params: this.#references.withReferences(params) };
    this.#record({ method, ...saved, ...(now || this.#pending > 0 ? { now: true } : {}) });
    if (fields.isNotification(method)) {
      this.#notify(method, resolved);
      return;
    }
    this.#pending++;
    void client
      .call(method, resolved)
      .catch(() => {
        this.fail();
      })
      .finally(() => {
        this.#pending--;
        this.#wake();
      });
  }

  #notify(method: string, params: unknown): void {
    try {
      this.#parts.client.notify(method, params);
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      throw new LineError(error.message, { cause: error });
    }
  }

  /** Performs the handshake before the first request, unless that is one itself. */
  async #begin(method: string): Promise<void> {
    const { client, version } = this.#parts;
    const clientInfo = { name: 'heddle-wire', title: 'heddle wire', version };
    this.#handshake ??=
      method === 'initialize'
        ? Promise.resolve()
        : client.initialize({ clientInfo, capabilities: { experimentalApi: true } });
    try {
      await this.#handshake;
    } catch (error) {
      throw new LineError(
        error instanceof ConnectionError ? error.message : 'the server has refused the handshake',
        { cause: error },
      );
    }
  }

  async #answer(line: Line<'answer' | 'refuse'>, source: Source): Promise<void> {
    const isOver = () => this.#pending === 0 && this.#work.isOver;
    if (source === 'read')
      await this.#until(() => this.#open.find(line.id) !== undefined || isOver());
    const request = this.#open.find(line.id);
    if (request === undefined)
      throw new LineError(
        `no request of the server${line.id === null ? '' : ` with id ${line.id}`} is open`,
      );
    const id = line.id === null ? {} : { id: line.id };
    if (line.kind === 'refuse') {
      this.#record({ ...id, error: { message: line.message } });
      request.refuse(line.message);
    } else {
      const { method, params } = request;
      const result = readAnswer(
        line.text,
        answerShape(method, params, this.#parts.fields),
        this.#parts.fields,
      );
      const resolved = this.#references.resolved(result);
      this.#record({ ...id, result: this.#references.withReferences(result) });
      request.answer(resolved);
    }
  }

  async #wait({ method }: Line<'wait'>): Promise<void> {
    await this.#until(() => this.#pending === 0 || !this.#open.isEmpty);
    await this.#untilRefusing(() =>
      method === TURN_COMPLETED ? this.#work.isOver : this.#since.has(method),
    );
    this.#since.clear();
    this.#parts.recorder?.write({ wait: method });
  }

  /**
   * Saves a line. If turns or other work have ended since the last one, a line before it waits for
   * that.
   */
  #record(line: object): void {
    const { recorder } = this.#parts;
    if (this.#work.isOver && [...this.#since].some((method) => RunningWork.isEnd(method)))
      recorder?.write({ wait: TURN_COMPLETED });
    recorder?.write(line);
    this.#since.clear();
  }

  #observeNotification(method: string, params: Record<string, unknown>): void {
    const { threadId, turn } = params;
    const turnId = isObject(turn) ? turn.id : undefined;
    if (method === 'turn/started' && typeof threadId === 'string' && typeof turnId === 'string')
      this.#references.takeTurn(threadId, turnId);
    this.#work.notified(method, params);
    this.#since.add(method);
  }

  async #untilRefusing(condition: () => boolean): Promise<void> {
    while (await this.#until(() => condition() || !this.#open.isEmpty)) {
      if (condition()) return;
      for (const { method, id, refuse } of this.#open.all()) {
        this.#parts.screen.problem(
          `no line answers ${method} with id ${String(id)}: it is refused`,
        );
        refuse('nobody answers');
      }
    }
  }

  /**
   * Resolves with true as soon as the condition is true. Resolves with false when nothing more can
   * be sent.
   */
  async #until(condition: () => boolean): Promise<boolean> {
    while (!condition()) {
      if (this.#parts.signal.aborted) return false;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
    return true;
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
