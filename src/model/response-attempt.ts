import type { Clock } from '../base/clock.ts';
import { cutText } from '../base/cut-text.ts';
import type { Endpoint } from './endpoint.ts';
import { EventReader } from './event-reader.ts';
import type { AnswerHead, HttpClient, HttpExchange, HttpPost } from './http-exchange.ts';
import type { ModelEvent } from './model.ts';
import { type ModelFailure, modelFailure } from './model-failure.ts';
import { brokenStreamFailure, unansweredFailure } from './network-error.ts';
import { httpFailure } from './provider-error.ts';
import { ResponseTranslator } from './response-translator.ts';

const ERROR_BODY_CHARS_MAX = 64 * 1024;
/** A stream that is not silent, yet says nothing of use, may go on for this many times the idle limit. */
const EVENTLESS_IDLE_LIMITS_MAX = 10;
const SUCCESS = 200;

export interface AttemptOptions {
  endpoint: Endpoint;
  client: HttpClient;
  clock: Clock;
  post: HttpPost;
  signal: AbortSignal;
}

/** One request for a response and what came of it. To be closed by its owner. */
export class ResponseAttempt {
  readonly #options: AttemptOptions;
  readonly #reader = new EventReader();
  readonly #translator: ResponseTranslator;
  #exchange: HttpExchange | null = null;
  #over = false;
  #failure: ModelFailure | null = null;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.#translator = new ResponseTranslator(options.endpoint);
  }

  /** Why the attempt failed, once `next` gave null; null: it completed, or the signal aborted. */
  get failure(): ModelFailure | null {
    return this.#failure;
  }

  /** The next events, as they come from the network; null when the attempt is over. */
  async next(): Promise<ModelEvent[] | null> {
    if (!this.#over && this.#exchange === null) await this.#open();
    const waitingSince = this.#options.clock.monotonic();
    while (!this.#over && this.#exchange !== null) {
      const chunk = await this.#exchange.read();
      if (chunk === null || typeof chunk !== 'string') {
        this.#fail(brokenStreamFailure(this.#options.endpoint, chunk, this.#options.post.idleMsMax));
        return null;
      }
      const events = this.#translate(chunk);
      if (events.length > 0) return events;
      if (this.#options.clock.monotonic() - waitingSince > this.#options.post.idleMsMax * EVENTLESS_IDLE_LIMITS_MAX) {
        this.#fail(this.#brokenBy('sends on and on without an answer'));
      }
    }
    return null;
  }

  /** Ends the attempt at once; a completed one leaves its connection for later requests. */
  close(): void {
    if (this.#over && this.#failure === null) this.#exchange?.finish();
    else this.#exchange?.close();
  }

  async #open(): Promise<void> {
    const { client, endpoint, post, signal } = this.#options;
    this.#exchange = await client.post(post, signal);
    const head = await this.#exchange.head();
    if ('broken' in head) this.#fail(unansweredFailure(endpoint, head, post.idleMsMax));
    else if (head.status !== SUCCESS) await this.#refused(head, this.#exchange);
    else if (!isEventStream(head)) this.#fail(this.#notAStream(head));
  }

  async #refused(head: AnswerHead, exchange: HttpExchange): Promise<void> {
    const body = await this.#shortBody(exchange);
    this.#fail(httpFailure(this.#options.endpoint, { ...head, body, now: this.#options.clock.now() }));
  }

  #notAStream({ headers }: AnswerHead): ModelFailure {
    const encoding = headers['content-encoding'] ?? 'identity';
    const form = encoding === 'identity' ? headers['content-type'] : `${encoding} encoding`;
    const { label } = this.#options.endpoint;
    return modelFailure(`${label} answered with ${form}, not with an event stream. Check base_url of the provider.`, 'other', 'never');
  }

  /** What can be had of an answer that is no stream: as much as an error needs, in no more than the time of one silence. */
  async #shortBody(exchange: HttpExchange): Promise<string> {
    const { clock, post } = this.#options;
    const startedAt = clock.monotonic();
    let body = '';
    while (body.length < ERROR_BODY_CHARS_MAX && clock.monotonic() - startedAt < post.idleMsMax) {
      const chunk = await exchange.read();
      if (typeof chunk !== 'string') break;
      body += chunk;
    }
    return cutText(body, ERROR_BODY_CHARS_MAX);
  }

  #translate(chunk: string): ModelEvent[] {
    const read = this.#reader.feed(chunk);
    const events: ModelEvent[] = [];
    for (const event of read.events) {
      const translated = this.#translator.translate(event);
      if (translated === null) continue;
      if ('retry' in translated) {
        this.#fail(translated);
        return events;
      }
      events.push(translated);
      if (translated.type === 'completed') {
        this.#over = true;
        return events;
      }
    }
    if (read.problem !== null) this.#fail(this.#brokenBy(read.problem));
    else if (read.done) this.#fail(brokenStreamFailure(this.#options.endpoint, null, this.#options.post.idleMsMax));
    return events;
  }

  #brokenBy(problem: string): ModelFailure {
    return modelFailure(`${this.#options.endpoint.label} ${problem}.`, 'other', 'stream');
  }

  #fail(failure: ModelFailure): void {
    this.#over = true;
    this.#failure ??= failure;
  }
}

/** A missing type is given the benefit of the doubt, as are servers that call a stream plain text. */
function isEventStream({ headers }: AnswerHead): boolean {
  const encoding = headers['content-encoding'] ?? 'identity';
  return encoding === 'identity' && !/^\s*(?:text\/html|application\/json)\b/i.test(headers['content-type'] ?? '');
}
