import { cutMiddle } from '../../base/text/cut-middle.ts';
import { outputText } from '../../model/message-text.ts';
import type { ContentItem, ResponseItem } from '../../protocol/generated/types.ts';

type Message = Extract<ResponseItem, { type: 'message' }>;

/** The most characters that a call, or the output of one, keeps. */
const PART_CHARS_MAX = 8_000;
const IMAGE_NOTE = '[An image was here.]';
const AUDIO_NOTE = '[A recording was here.]';

/**
 * Returns an item without images, recordings and huge texts; null if nothing is left that is of use
 * later, as of reasoning. With `charsMax`, no text stays longer than that, also of messages: the
 * middle is cut out.
 */
export function withoutBulk(
  item: ResponseItem,
  charsMax = Number.POSITIVE_INFINITY,
): ResponseItem | null {
  const partMax = Math.min(PART_CHARS_MAX, Math.floor(charsMax));
  switch (item.type) {
    case 'message':
      return { ...item, content: shortContent(item, Math.floor(charsMax)) };
    case 'function_call':
      return item.arguments.length <= partMax
        ? item
        : { ...item, arguments: JSON.stringify({ cut: cutMiddle(item.arguments, partMax) }) };
    case 'custom_tool_call':
      return { ...item, input: cutMiddle(item.input, partMax) };
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { ...item, output: cutMiddle(outputText(item.output, IMAGE_NOTE), partMax) };
    case 'local_shell_call':
      return item;
    default:
      return null;
  }
}

/** The parts of a message as text; one part if they are too long together. */
function shortContent({ role, content }: Message, charsMax: number): ContentItem[] {
  const parts = content.map(textOf);
  const texts = parts.map((part) =>
    'text' in part && typeof part.text === 'string' ? part.text : '',
  );
  if (texts.reduce((sum, { length }) => sum + length, 0) <= charsMax) return parts;
  return [
    {
      type: role === 'assistant' ? 'output_text' : 'input_text',
      text: cutMiddle(texts.join('\n'), charsMax),
    },
  ];
}

function textOf(part: ContentItem): ContentItem {
  if (part.type === 'input_image') return { type: 'input_text', text: IMAGE_NOTE };
  if (part.type === 'input_audio') return { type: 'input_text', text: AUDIO_NOTE };
  return part;
}
