import { cutMiddle } from '../../base/text/cut-middle.ts';
import { charsOfTokens } from '../../base/text/estimate-tokens.ts';
import { messageText } from '../../model/message-text.ts';
import { authorOf } from '../../rollout/author-of.ts';
import type { Author } from '../../store/log-entry.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import { itemSize } from '../prompt/item-size.ts';
import { withoutBulk } from '../prompt/without-bulk.ts';

/** One item takes at most this part, so that a huge one does not displace all others. */
const ITEM_SHARE = 0.25;
/** Those who tell what is to be done. */
const KEPT: ReadonlySet<Author> = new Set<Author>(['user', 'client', 'parent', 'approval']);
/** A message of which less would be left is left out. */
const CUT_CHARS_MIN = 200;

/**
 * Returns the messages that the user wrote or approved, or that the agent that started this one
 * wrote, without images: the newest, as many as fit into so many tokens. The last that fits may be
 * cut.
 */
export function keptUserMessages(
  items: readonly AuthoredItem[],
  tokensMax: number,
): AuthoredItem[] {
  const kept: AuthoredItem[] = [];
  let chars = charsOfTokens(tokensMax);
  for (const source of items.toReversed()) {
    const author = authorOf(source);
    if (author === null || !KEPT.has(author)) continue;
    const item = withoutBulk(source.item);
    // Approvals of actions have another role. The guardian tells again those that no action has
    // used.
    if (item?.type !== 'message' || item.role !== 'user') continue;
    const text = messageText(item);
    if (text.length > chars && chars < CUT_CHARS_MIN) break;
    if (text === '') continue;
    const content = [{ type: 'input_text' as const, text: cutMiddle(text, Math.floor(chars)) }];
    kept.push({ item: { type: 'message', role: item.role, content }, author });
    chars -= text.length;
    if (chars <= 0) break;
  }
  return kept.toReversed();
}

/**
 * The newest items, without images and huge texts, as many as fit into so many tokens; and how many
 * of `items` are older.
 */
export function recentItems(
  items: readonly AuthoredItem[],
  tokensMax: number,
): { recent: AuthoredItem[]; older: number } {
  const recent: AuthoredItem[] = [];
  let tokens = 0;
  let older = items.length;
  for (const source of items.toReversed()) {
    const item = withoutBulk(source.item, charsOfTokens(tokensMax) * ITEM_SHARE);
    if (item !== null) {
      tokens += itemSize(item).tokens;
      if (tokens > tokensMax) break;
      recent.push({ item, author: source.author });
    }
    older--;
  }
  return { recent: recent.toReversed(), older };
}
