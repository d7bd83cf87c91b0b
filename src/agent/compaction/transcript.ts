import { messageText } from '../../rollout/begin-item.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import { outputText, withoutBulk } from '../prompt/without-bulk.ts';
import { isConversation } from './divided-prompt.ts';

/**
 * Items as text, without images and huge outputs: the newest, as many as `charsMax` allows. `isCut`: older ones are missing. A provider
 * can read the text whatever its API demands of items.
 */
export function transcript(items: readonly AuthoredItem[], charsMax: number): { text: string; isCut: boolean } {
  const parts: string[] = [];
  let chars = 0;
  for (const item of items.toReversed()) {
    const text = itemText(item);
    if (text === null) continue;
    chars += text.length + 1;
    if (chars > charsMax) return { text: parts.toReversed().join('\n'), isCut: true };
    parts.push(text);
  }
  return { text: parts.toReversed().join('\n'), isCut: false };
}

function itemText(read: AuthoredItem): string | null {
  const item = withoutBulk(read.item);
  switch (item?.type) {
    case 'message':
      if (!isConversation(read)) return null;
      return `[${item.role}]\n${messageText(item)}`;
    case 'function_call':
      return `[call of ${item.name}]\n${item.arguments}`;
    case 'custom_tool_call':
      return `[call of ${item.name}]\n${item.input}`;
    case 'function_call_output':
    case 'custom_tool_call_output':
      return `[output]\n${outputText(item.output)}`;
    default:
      return null;
  }
}
