import type { ModelEvent } from '../../model/model.ts';
import { itemSize } from '../prompt/item-size.ts';

interface Limits {
  /** The most characters of the deltas. */
  charsMax: number;
  /**
   * The most bytes of the completed items, whether they came as deltas or not. Null: no limit
   * beside that of the provider's response.
   */
  bytesMax: number | null;
  itemsMax: number;
}

/**
 * Returns a function that counts the events of a response, and names the limit that an event
 * exceeds; null: none.
 */
export function responseLimits({
  charsMax,
  bytesMax,
  itemsMax,
}: Limits): (event: ModelEvent) => string | null {
  let counted = NOTHING;
  return (event) => {
    counted = event.type === 'retrying' ? NOTHING : added(counted, event);
    if (counted.chars > charsMax) return `${charsMax} characters`;
    if (bytesMax !== null && counted.bytes > bytesMax) return `${bytesMax} bytes`;
    return Math.max(counted.begun, counted.completed) > itemsMax ? `${itemsMax} items` : null;
  };
}

const NOTHING = { chars: 0, bytes: 0, begun: 0, completed: 0 };

function added(counted: typeof NOTHING, event: ModelEvent): typeof NOTHING {
  if ('delta' in event) return { ...counted, chars: counted.chars + event.delta.length };
  if (event.type === 'itemStarted') return { ...counted, begun: counted.begun + 1 };
  if (event.type !== 'itemCompleted') return counted;
  return {
    ...counted,
    completed: counted.completed + 1,
    bytes: counted.bytes + itemSize(event.item).bytes,
  };
}
