import { isDeepStrictEqual } from 'node:util';
import type { ModelRequest } from '../model.ts';
import type { LeftOut } from './parameters/accepted-settings.ts';
import type { ReasoningSent } from './parameters/sent-settings.ts';
import type { BegunBody } from './provider-api.ts';

/** The most bodies that are kept: one of each of so many threads. */
const BODIES_MAX = 8;

interface Settings {
  reasoning: ReasoningSent;
  leftOut: readonly LeftOut[];
}

interface Begun {
  request: ModelRequest;
  settings: Settings;
  /** Null: it could not be begun. */
  body: Promise<BegunBody | null>;
  forget(): void;
}

/** The bodies of requests that are about to come, by thread. */
export class BegunBodies {
  readonly #begun = new Map<string, Begun>();

  /** Keeps a body until its request takes it, or the signal aborts. */
  add(
    { request, settings, body }: Omit<Begun, 'body' | 'forget'> & { body: Promise<BegunBody> },
    signal: AbortSignal,
  ): void {
    const key = request.promptCacheKey;
    const forget = () => {
      signal.removeEventListener('abort', forget);
      if (this.#begun.get(key)?.forget === forget) this.#begun.delete(key);
    };
    this.#begun.get(key)?.forget();
    const begun = { request, settings, body: body.catch(() => null), forget };
    if (signal.aborted) return;
    this.#begun.set(key, begun);
    signal.addEventListener('abort', forget);
    for (const oldest of this.#begun.values()) if (this.#begun.size > BODIES_MAX) oldest.forget();
  }

  /**
   * Removes the body that begins as that of this request does; null: there is none. Other requests
   * with the thread's cache key leave it.
   */
  take(request: ModelRequest, settings: Settings): Promise<BegunBody | null> | null {
    const begun = this.#begun.get(request.promptCacheKey);
    const fits =
      begun !== undefined &&
      isDeepStrictEqual(begun.settings, settings) &&
      isSameButInput(begun.request, request);
    if (!fits) return null;
    begun.forget();
    return begun.body;
  }
}

function isSameButInput(
  { input: _, tools, ...one }: ModelRequest,
  { input: __, tools: others, ...other }: ModelRequest,
): boolean {
  return (
    tools.length === others.length &&
    tools.every((tool, index) => tool === others[index]) &&
    isDeepStrictEqual(one, other)
  );
}
