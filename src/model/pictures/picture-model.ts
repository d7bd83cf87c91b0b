import type { ResponseItem, TurnError } from '../../protocol/generated/types.ts';
import type { Model, ModelEvent, ModelRequest } from '../model.ts';
import { pictureParts } from './picture-parts.ts';
import { RefusedPictures } from './refused-pictures.ts';
import type { SentPictures } from './sent-pictures.ts';

/** The most models of one provider whose refusals are remembered. */
const MODELS_MAX = 100;
/**
 * The events that come before anything that the model has made, or after it. The provider may
 * refuse the request after these.
 */
const AROUND: ReadonlySet<ModelEvent['type']> = new Set([
  'started',
  'answered',
  'moderated',
  'leftOut',
  'retrying',
  'failed',
  'completed',
]);

interface PictureRequest {
  request: ModelRequest;
  refused: RefusedPictures;
  /** The input with all pictures. */
  prepared: readonly ResponseItem[];
  /** The refusals that were noted for this request, and that no answer has confirmed. */
  noted: string[];
}

/**
 * Sends pictures to a model in a form that it takes. If the provider refuses a picture all the
 * same, sends the request again without it, and, if the model answers then, never sends this
 * picture to that model again.
 */
export class PictureModel implements Model {
  readonly report?: () => string | null;
  readonly prepare?: (request: ModelRequest, signal: AbortSignal) => void;
  readonly #inner: Model;
  readonly #pictures: SentPictures;
  /** By the name of the model. */
  readonly #refused = new Map<string, RefusedPictures>();

  constructor(inner: Model, pictures: SentPictures) {
    this.#inner = inner;
    this.#pictures = pictures;
    if (inner.report !== undefined) this.report = () => inner.report?.() ?? null;
    if (inner.prepare !== undefined)
      this.prepare = (request, signal) => inner.prepare?.(request, signal);
  }

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    return request.input.some(hasPictures)
      ? this.#withPictures(request, signal)
      : this.#inner.stream(request, signal);
  }

  async *#withPictures(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const refused = this.#refusedBy(request.model);
    const prepared = await this.#pictures.of(request.input);
    const noted: string[] = [];
    try {
      for (let tries = 0; ; tries++) {
        const input = await refused.without(prepared);
        if (signal.aborted) return;
        const failure = yield* this.#ask(
          { request: { ...request, input }, refused, prepared, noted },
          signal,
        );
        if (failure === null) return;
        // It was asked with all pictures, then without those that it had not taken before, and at
        // last without any.
        if (tries === 2 || !input.some(hasPictures)) {
          yield { type: 'failed', error: failure };
          return;
        }
        noted.push(...(await refused.refuse(prepared, { all: tries === 1 })));
        yield { type: 'retrying', error: toldError(failure), delayMs: 0 };
      }
    } finally {
      // The request without the pictures was not answered either, so they need not be the cause.
      refused.forget(noted);
    }
  }

  /**
   * Passes on the events. Empties `noted` when the model answers. If a picture is refused, returns
   * that failure.
   */
  async *#ask(
    { request, refused, prepared, noted }: PictureRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent, TurnError | null> {
    let hasBegun = false;
    for await (const event of this.#inner.stream(request, signal)) {
      if (event.type === 'failed' && !hasBegun && event.refusesPictures) return event.error;
      hasBegun ||= !AROUND.has(event.type);
      // The reader of the events may stop at any of them.
      if (hasBegun || event.type === 'completed') noted.length = 0;
      if (event.type === 'completed') refused.take(prepared);
      yield event;
    }
    return null;
  }

  #refusedBy(model: string): RefusedPictures {
    const refused = this.#refused.get(model) ?? new RefusedPictures();
    this.#refused.delete(model);
    this.#refused.set(model, refused);
    const [oldest] = this.#refused.keys();
    if (this.#refused.size > MODELS_MAX && oldest !== undefined) this.#refused.delete(oldest);
    return refused;
  }
}

function hasPictures(item: ResponseItem): boolean {
  return pictureParts(item).length > 0;
}

function toldError(error: TurnError): TurnError {
  return { ...error, message: `${error.message} The request is sent again without the image.` };
}
