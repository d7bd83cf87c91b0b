import { messageText, outputText } from '../../model/message-text.ts';
import { authorOf } from '../../rollout/author-of.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import { withoutBulk } from '../prompt/without-bulk.ts';
import { isConversation } from './divided-prompt.ts';

/** One item takes at most this part, so that a huge one does not displace all others. */
const ITEM_SHARE = 0.25;
/** The characters of a line besides its text: names, and the note about a cut. */
const LINE_OVERHEAD_CHARS = 200;

/**
 * Items as text, without images and huge texts: the newest, as many as `charsMax` allows. `isCut`:
 * older ones are missing. Each is a line of JSON, so no text can end its entry and pose as another.
 * A provider can read the text whatever its API demands of items.
 */
export function summaryTranscript(
  items: readonly AuthoredItem[],
  charsMax: number,
): { text: string; isCut: boolean } {
  const lines: string[] = [];
  let chars = 0;
  for (const read of items.toReversed()) {
    const line = shortLine(read, charsMax * ITEM_SHARE);
    if (line === null) continue;
    chars += line.length + 1;
    if (chars > charsMax) return { text: lines.toReversed().join('\n'), isCut: true };
    lines.push(line);
  }
  return { text: lines.toReversed().join('\n'), isCut: false };
}

/**
 * The line of an item, whose text is shortened until the line takes about `charsMax`: escapes can
 * make it several times longer.
 */
function shortLine(read: AuthoredItem, charsMax: number): string | null {
  for (let textMax = charsMax; ; textMax /= 2) {
    const line = itemLine(read, textMax);
    if (line === null || line.length <= charsMax + LINE_OVERHEAD_CHARS || textMax < 1) return line;
  }
}

function itemLine(read: AuthoredItem, charsMax: number): string | null {
  const item = withoutBulk(read.item, charsMax);
  switch (item?.type) {
    case 'message':
      return isConversation(read)
        ? jsonLine({
            from: authorOf(read) === 'server' ? 'server' : item.role,
            text: messageText(item),
          })
        : null;
    case 'function_call':
      return jsonLine({ call: item.name, arguments: item.arguments });
    case 'custom_tool_call':
      return jsonLine({ call: item.name, input: item.input });
    case 'function_call_output':
    case 'custom_tool_call_output':
      return jsonLine({ output: outputText(item.output) });
    default:
      return null;
  }
}

/** The line is put between tags, which it must not end. */
function jsonLine(value: object): string {
  return JSON.stringify(value).replaceAll('</', '<\\/');
}
