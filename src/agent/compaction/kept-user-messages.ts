import type { ContentItem, ResponseItem } from '../../protocol/generated/types.ts';
import { isUserMessage } from '../../rollout/history-entries.ts';
import { CHARS_PER_TOKEN, itemSize } from '../prompt/item-size.ts';
import { cutMiddle, withoutBulk } from '../prompt/without-bulk.ts';

/** One item takes at most this part, so that a huge one does not displace all others. */
const ITEM_SHARE = 0.25;
/** A message of which less would be left is left out. */
const CUT_CHARS_MIN = 200;

/** The user's own messages among items, without images: the newest, as many as fit into so many tokens. The last that fits may be cut. */
export function keptUserMessages(items: readonly ResponseItem[], tokensMax: number): ResponseItem[] {
  const kept: ResponseItem[] = [];
  let chars = tokensMax * CHARS_PER_TOKEN;
  for (const source of items.toReversed()) {
    if (!isUserMessage(source)) continue;
    const item = withoutBulk(source);
    if (item?.type !== 'message') continue;
    const text = item.content.map(textOf).join('\n');
    if (text.length > chars && chars < CUT_CHARS_MIN) break;
    if (text === '') continue;
    kept.push({ type: 'message', role: 'user', content: [{ type: 'input_text', text: cutMiddle(text, Math.floor(chars)) }] });
    chars -= text.length;
    if (chars <= 0) break;
  }
  return kept.toReversed();
}

/** The newest items, without images and huge texts, as many as fit into so many tokens; and how many of `items` are older. */
export function recentItems(items: readonly ResponseItem[], tokensMax: number): { recent: ResponseItem[]; older: number } {
  const recent: ResponseItem[] = [];
  let tokens = 0;
  let older = items.length;
  for (const source of items.toReversed()) {
    const item = withoutBulk(source, tokensMax * CHARS_PER_TOKEN * ITEM_SHARE);
    if (item !== null) {
      tokens += itemSize(item).tokens;
      if (tokens > tokensMax) break;
      recent.push(item);
    }
    older--;
  }
  return { recent: recent.toReversed(), older };
}

function textOf(part: ContentItem): string {
  return 'text' in part && typeof part.text === 'string' ? part.text : '';
}
