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
}

/** The bodies of requests that are about to come, by thread. */
export class BegunBodies {
  readonly #begun = new Map<string, Begun>();

  add({ request, settings, body }: Omit<Begun, 'body'> & { body: Promise<BegunBody> }): void {
    const key = request.promptCacheKey;
    this.#begun.delete(key);
    this.#begun.set(key, { request, settings, body: body.catch(() => null) });
    for (const oldest of this.#begun.keys())
      if (this.#begun.size > BODIES_MAX) this.#begun.delete(oldest);
  }

  /** Removes the body of a thread. Null: there is none that begins as that of this request does. */
  take(request: ModelRequest, settings: Settings): Promise<BegunBody | null> | null {
    const begun = this.#begun.get(request.promptCacheKey);
    this.#begun.delete(request.promptCacheKey);
    return begun !== undefined &&
      isDeepStrictEqual(begun.settings, settings) &&
      isSameButInput(begun.request, request)
      ? begun.body
      : null;
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
