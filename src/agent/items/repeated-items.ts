import type { ModelEvent } from '../../model/model.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import { messageText } from '../../rollout/begin-item.ts';
import { isToolCall } from '../calls/run-tool-calls.ts';

/** An item of a retry that may repeat one that an earlier attempt has completed. Its events are held until that is certain. */
interface HeldItem {
  original: ResponseItem;
  text: string;
  events: ModelEvent[];
}

/**
 * Removes from a model's events what a retry only repeats: items that an earlier attempt of the same request has completed. Clients
 * have seen these, and they are in the history. An item with other content is passed on as a new one.
 */
export class RepeatedItems {
  /** The completed items of all earlier attempts that no item of this attempt has repeated. */
  #earlier: ResponseItem[] = [];
  #completed: ResponseItem[] = [];
  readonly #held = new Map<string, HeldItem>();

  /** Takes an event; returns the events to handle now, in their order. */
  take(event: ModelEvent): readonly ModelEvent[] {
    if (event.type === 'retrying') this.#beginAttempt();
    else if (event.type === 'itemCompleted') return this.#complete(event);
    else if (this.#earlier.length > 0 || this.#held.size > 0) return this.#hold(event);
    return [event];
  }

  #beginAttempt(): void {
    this.#earlier = [...this.#completed];
    this.#held.clear();
  }

  #hold(event: ModelEvent): readonly ModelEvent[] {
    if (event.type === 'itemStarted') {
      const original = this.#earlier.find(({ type }) => type === event.item.type);
      if (original === undefined) return [event];
      this.#held.set(event.item.id, { original, text: '', events: [event] });
      return [];
    }
    const held = 'itemId' in event ? this.#held.get(event.itemId) : undefined;
    if (held === undefined || !('itemId' in event)) return [event];
    held.events.push(event);
    if (event.type === 'textDelta') held.text += event.delta;
    const { original } = held;
    if (original.type !== 'message' || messageText(original).startsWith(held.text)) return [];
    this.#held.delete(event.itemId);
    return held.events;
  }

  #complete(event: Extract<ModelEvent, { type: 'itemCompleted' }>): readonly ModelEvent[] {
    const id = 'id' in event.item && typeof event.item.id === 'string' ? event.item.id : '';
    const held = this.#held.get(id)?.events ?? [];
    this.#held.delete(id);
    const at = this.#earlier.findIndex((original) => hasSameContent(original, event.item));
    if (at >= 0) {
      this.#earlier.splice(at, 1);
      return [];
    }
    // A retry voids the tool calls before it, so it repeats none.
    if (!isToolCall(event.item)) this.#completed.push(event.item);
    return [...held, event];
  }
}

/** Whether two items are equal to a reader. Their ids and the encrypted forms of their content may differ. */
function hasSameContent(one: ResponseItem, other: ResponseItem): boolean {
  return content(one) === content(other);
}

function content(item: ResponseItem): string {
  return JSON.stringify(item, (key, value: unknown) => (key === 'id' || key === 'encrypted_content' ? undefined : value));
}
