import { isRemoteImage } from '../../model/pictures/image-type.ts';
import { pictureParts } from '../../model/pictures/picture-parts.ts';
import { invalidItem, remoteImage, tooManyItems } from '../../protocol/errors/turn-errors.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { parseResponseItem } from '../../protocol/parse-response-item.ts';
import { emptyField } from '../../protocol/rpc-error.ts';
import { type MethodTable, perThread } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

/** The maximum number of items in a request, since they are all checked and stored together. */
const INJECTED_ITEMS_MAX = 1_000;

export function injectItemsMethods({ threads }: ThreadServices) {
  return {
    'thread/inject_items': {
      order: perThread,
      async handle({ threadId, items }, { after, effective }) {
        const thread = threads.require(threadId);
        if (items.length === 0) throw emptyField('empty_items', 'items');
        if (items.length > INJECTED_ITEMS_MAX) throw tooManyItems(INJECTED_ITEMS_MAX, items.length);
        const { parseResponseItem } = await import('../../protocol/parse-response-item.ts');
        const known = items
          .map((item, index) => knownItem(parseResponseItem(item), index))
          .filter((item) => item !== null);
        if (
          known.some((item) => pictureParts(item).some(({ image_url }) => isRemoteImage(image_url)))
        )
          throw remoteImage();
        if (known.length === 0) return {};
        const injected = thread.turns.inject(known);
        effective();
        after(await injected);
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}

/** Returns null for an item of an unknown type. Throws if the item is invalid. */
function knownItem(
  parsed: ReturnType<typeof parseResponseItem>,
  index: number,
): ResponseItem | null {
  if ('problem' in parsed) throw invalidItem(index, parsed.problem);
  return parsed.item;
}
