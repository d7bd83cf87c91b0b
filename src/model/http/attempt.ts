import type { Clock } from '../../base/clock.ts';
import type { HttpClient } from '../../base/http/http-client.ts';
import type {
  Break,
  HttpExchange,
  HttpRequest,
  ResponseHead,
} from '../../base/http/http-exchange.ts';
import type { Log } from '../../base/log.ts';
import { cutText } from '../../base/text/cut-text.ts';
import type { ModelEvent } from '../model.ts';
import { type ModelFailure, modelFailure } from '../model-failure.ts';
import type { Endpoint } from './endpoint.ts';
import { httpFailure, wholeFailure } from './http-failure.ts';
import type { EventTranslator, Translation } from './provider-api.ts';
import type { ArrivingResponse, ArrivingResponses } from './response/arriving-responses.ts';
import type { ReadEvents } from './response/event-reader.ts';
import { ResponseReader } from './response/response-reader.ts';
import { brokenStreamFailure, unansweredFailure } from './unanswered-failure.ts';

const ERROR_BODY_CHARS_MAX = 64 * 1024;
/** A stream that sends data but no events may last this many times the idle limit. */
const EVENTLESS_IDLE_LIMITS_MAX = 10;
/**
 * How long to wait for the end of a stream whose items are complete: token counts may still follow.
 */
const FINISHED_MS_MAX = 2_000;
const SUCCESS = 200;
const HTML_TYPE = /^\s*text\/html\b/i;
const TOLD_TEXT = /^[\x21-\x7e][\x20-\x7e]{0,4095}$/;
const JSON_TYPE = /^\s*application\/json\b/i;

export interface AttemptOptions {
  endpoint: Endpoint;
  /** The model's name, for errors. */
  model: string;
  client: HttpClient;
  clock: Clock;
  log: Log;
  httpRequest: HttpRequest;
  arriving: ArrivingResponses;
  translator: () => EventTranslator;
  /** Called with the headers of the response. */
  onHeaders: (headers: ResponseHead['headers']) => void;
  signal: AbortSignal;
}

/** One HTTP request to the provider and its response. The owner must close it. */
export class Attempt {
  readonly #options: AttemptOptions;
  readonly #translator: EventTranslator;
  readonly #reader: ResponseReader;
  readonly #arriving: ArrivingResponse;
  #exchange: HttpExchange | null = null;
  /**
   * For how long the events that are being awaited have waited for other responses. It counts for
   * no limit.
   */
  #othersMs = 0;
  #over = false;
  #answered: ModelEvent | null = null;
  /** Whether a part of the answer has come. */
  #hasPart = false;
  #failure: ModelFailure | null = null;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.#translator = options.translator();
    this.#reader = new ResponseReader(this.#translator);
    this.#arriving = options.arriving.open();
  }

  /**
   * Why the attempt failed, after `next` returned null; null if it completed or the signal aborted.
   */
  get failure(): ModelFailure | null {
    return this.#failure;
  }

  /** Resolves with the next events from the network, or null when the attempt is over. */
  async next(): Promise<ModelEvent[] | null> {
    if (!this.#over && this.#exchange === null) await this.#open();
    if (!this.#over && this.#answered !== null) return [this.#takeAnswered(this.#answered)];
    const { clock, httpRequest } = this.#options;
    const waitingSince = clock.monotonic();
    this.#othersMs = 0;
    while (!this.#over && this.#exchange !== null) {
      this.#arriving.used(this.#reader.pendingChars);
      const chunk = await this.#exchange.read(
        this.#translator.finished ? FINISHED_MS_MAX : httpRequest.idleMsMax,
      );
      const events = await (typeof chunk === 'string' ? this.#receive(chunk) : this.#end(chunk));
      const found =
        events.length > 0
          ? events
          : await this.#endWhereOverdue(clock.monotonic() - waitingSince - this.#othersMs);
      if (found.length > 0) return found;
    }
    return null;
  }

  /** Ends the attempt at once. A completed one keeps its connection open for later requests. */
  close(): void {
    this.#arriving.close();
    if (this.#over && this.#failure === null) this.#exchange?.finish();
    else this.#exchange?.close();
  }

  async #open(): Promise<void> {
    const { client, endpoint, httpRequest, signal } = this.#options;
    this.#exchange = await client.ask(httpRequest, signal);
    const head = await this.#exchange.head();
    if ('headers' in head) {
      this.#options.onHeaders(head.headers);
      this.#answered = answeredEvent(head.headers);
    }
    if ('broken' in head) this.#fail(unansweredFailure(endpoint, head, httpRequest));
    else if (head.status !== SUCCESS) await this.#refused(head, this.#exchange);
    else if (!this.#isReadable(head)) this.#fail(await this.#unreadable(head, this.#exchange));
  }

  /** Uses a chunk once other responses leave memory for it. */
  async #receive(chunk: string): Promise<ModelEvent[]> {
    const { clock, signal } = this.#options;
    const turn = this.#arriving.receive(chunk, this.#reader.pendingChars, signal);
    if (turn !== null) {
      const startedAt = clock.monotonic();
      await turn;
      this.#othersMs += clock.monotonic() - startedAt;
    }
    return this.#take(await this.#reader.feed(chunk));
  }

  #takeAnswered(answered: ModelEvent): ModelEvent {
    this.#answered = null;
    return answered;
  }

  async #refused(head: ResponseHead, exchange: HttpExchange): Promise<void> {
    const body = await this.#shortBody(exchange);
    const { endpoint, model, clock } = this.#options;
    this.#fail(httpFailure(endpoint, { ...head, body, model, now: clock.now() }));
  }

  /**
   * A missing content type is accepted, and so is plain text: some servers send streams that way.
   */
  #isReadable({ headers }: ResponseHead): boolean {
    const type = headers['content-type'] ?? '';
    const isJson = JSON_TYPE.test(type);
    return isPlain(headers) && (isJson ? this.#translator.takesWhole : !HTML_TYPE.test(type));
  }

  async #unreadable({ headers }: ResponseHead, exchange: HttpExchange): Promise<ModelFailure> {
    const type = headers['content-type'] ?? '';
    const { endpoint, model } = this.#options;
    if (isPlain(headers) && JSON_TYPE.test(type)) {
      const failure = wholeFailure(endpoint, { body: await this.#shortBody(exchange), model });
      if (failure !== null) return failure;
    }
    const form = isPlain(headers) ? type : `${headers['content-encoding']} encoding`;
    return modelFailure(
      `${endpoint.label} answered with ${form}, not with an event stream. Check base_url of the provider.`,
      'other',
      'never',
    );
  }

  /**
   * Reads a response that is not a stream: as much as an error needs, for at most the idle limit.
   */
  async #shortBody(exchange: HttpExchange): Promise<string> {
    const { clock, httpRequest } = this.#options;
    const startedAt = clock.monotonic();
    let body = '';
    while (
      body.length < ERROR_BODY_CHARS_MAX &&
      clock.monotonic() - startedAt < httpRequest.idleMsMax
    ) {
      const chunk = await exchange.read();
      if (typeof chunk !== 'string') break;
      body += chunk;
    }
    return cutText(body, ERROR_BODY_CHARS_MAX);
  }

  #take({ events: read, skipped, done, problem }: ReadEvents): ModelEvent[] {
    const { endpoint, log } = this.#options;
    if (skipped > 0)
      log.warn(
        { endpoint: endpoint.label, skipped },
        'skipped model events that are not JSON objects',
      );
    const events: ModelEvent[] = [];
    for (const event of read) {
      this.#pass(this.#translator.translate(event), events);
      if (this.#over) return events;
    }
    if (problem !== null) this.#fail(this.#brokenBy(problem));
    else if (done) this.#conclude({ said: true, why: null }, events);
    return events;
  }

  /** The response ended (null) or broke off. */
  async #end(why: Break | null): Promise<ModelEvent[]> {
    const events: ModelEvent[] = [];
    const { endpoint, model } = this.#options;
    const { events: last } = await this.#reader.end();
    for (const event of why === null ? last : []) {
      const failure = this.#reader.isWhole ? wholeFailure(endpoint, { body: event, model }) : null;
      if (!this.#over)
        this.#pass(failure === null ? this.#translator.translate(event) : [failure], events);
    }
    if (!this.#over) this.#conclude({ said: this.#reader.isWhole, why }, events);
    return events;
  }

  /** Ends an attempt if it has received data but no events for too long. */
  async #endWhereOverdue(waitedMs: number): Promise<ModelEvent[]> {
    if (this.#over) return [];
    if (this.#translator.finished) return waitedMs > FINISHED_MS_MAX ? this.#end(null) : [];
    if (waitedMs > this.#options.httpRequest.idleMsMax * EVENTLESS_IDLE_LIMITS_MAX) {
      this.#fail(this.#brokenBy('keeps sending data without an answer'));
    }
    return [];
  }

  /**
   * Completes the response, or fails if it is not complete. `said`: the stream itself marked its
   * end.
   */
  #conclude({ said, why }: { said: boolean; why: Break | null }, events: ModelEvent[]): void {
    if (why === null || this.#translator.finished) this.#pass(this.#translator.end(said), events);
    const { endpoint, httpRequest } = this.#options;
    if (!this.#over)
      this.#fail(
        brokenStreamFailure(endpoint, why, {
          idleMsMax: httpRequest.idleMsMax,
          hasPart: this.#hasPart,
        }),
      );
  }

  /** Adds the translations to `events`, up to the one that ends the attempt. */
  #pass(translations: Translation[], events: ModelEvent[]): void {
    for (const translation of translations) {
      if ('retry' in translation) {
        this.#fail(translation);
        return;
      }
      events.push(translation);
      this.#hasPart ||= 'delta' in translation || translation.type === 'itemCompleted';
      if (translation.type === 'completed') {
        this.#over = true;
        return;
      }
    }
  }

  #brokenBy(problem: string): ModelFailure {
    return modelFailure(`${this.#options.endpoint.label} ${problem}.`, 'other', 'stream');
  }

  #fail(failure: ModelFailure): void {
    this.#over = true;
    this.#failure ??= failure;
  }
}

/**
 * The facts in the headers of a response; null: none. Values that could not be sent back are
 * ignored.
 */
function answeredEvent({
  'openai-model': model,
  'x-codex-turn-state': turnState,
}: ResponseHead['headers']): ModelEvent | null {
  const told = (value: unknown) =>
    typeof value === 'string' && TOLD_TEXT.test(value) ? value : null;
  const answered = { type: 'answered' as const, model: told(model), turnState: told(turnState) };
  return answered.model === null && answered.turnState === null ? null : answered;
}

function isPlain({ 'content-encoding': encoding = 'identity' }: ResponseHead['headers']): boolean {
  return encoding === 'identity';
}
