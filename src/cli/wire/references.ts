import { isObject, mapStrings } from '../../base/json-value.ts';
import { LineError } from './line-error.ts';

type Kind = 'thread' | 'turn';

const REFERENCE = /^@(thread|turn)([1-9]\d{0,5})?$/;
const NONE_YET: Record<Kind, string> = {
  thread: 'no thread yet: send thread/start or thread/resume first',
  turn: 'no turn yet: send turn/start first',
};
const ESCAPED = /^@@+(?:thread|turn)\d*$/;

/**
 * The threads and turns of a session, by number: `@thread` is the last one that a response has
 * named, `@thread1` the first. `@@thread` is the text "@thread".
 */
export class References {
  readonly #ids: Record<Kind, string[]> = { thread: [], turn: [] };
  readonly #last: Record<Kind, string | null> = { thread: null, turn: null };

  /** Takes the thread and the turn of a response's result. */
  takeResult(result: unknown): void {
    if (!isObject(result)) return;
    for (const kind of ['thread', 'turn'] as const) {
      const named = result[kind];
      const id = isObject(named) ? named.id : undefined;
      if (typeof id === 'string') this.#take(kind, id);
    }
  }

  /** Takes a turn that has started. It counts if it is in the last thread. */
  takeTurn(threadId: string, turnId: string): void {
    if (threadId === this.#last.thread) this.#take('turn', turnId);
  }

  /**
   * The value with ids in place of references. Throws a LineError if a reference stands for nothing
   * yet.
   */
  resolved(value: unknown): unknown {
    return mapStrings(value, (text) => {
      const [, kind, number] = REFERENCE.exec(text) ?? [];
      if (kind === undefined) return ESCAPED.test(text) ? text.slice(1) : text;
      const ids = this.#ids[kind as Kind];
      const id = number === undefined ? this.#last[kind as Kind] : ids[Number(number) - 1];
      if (id == null)
        throw new LineError(
          `${text}: ${ids.length === 0 ? NONE_YET[kind as Kind] : `only ${ids.length} so far`}`,
        );
      return id;
    });
  }

  /** The value with references in place of ids, so that it can be sent again in another session. */
  withReferences(value: unknown): unknown {
    return mapStrings(value, (text) => {
      for (const kind of ['thread', 'turn'] as const) {
        const index = this.#ids[kind].indexOf(text);
        if (index >= 0) return `@${kind}${index + 1}`;
      }
      return text;
    });
  }

  #take(kind: Kind, id: string): void {
    this.#last[kind] = id;
    if (!this.#ids[kind].includes(id)) this.#ids[kind].push(id);
  }
}
