import { cutMiddle } from '../../base/text/cut-middle.ts';
import type {
  DynamicToolCallOutputContentItem,
  FunctionCallOutputBody,
  FunctionCallOutputContentItem,
} from '../../protocol/generated/types.ts';

const DATA_IMAGE = /^data:image\/[\w.+-]+;base64,/i;
const IMAGE_CHARS_MAX = 32 * 1024 * 1024;
const AUDIO_NOTE = '[The tool returned audio. It was left out, because not all models can hear it.]';
const REMOTE_IMAGE_NOTE = '[The tool returned an image that is not a data URL. It was left out.]';
const LARGE_IMAGE_NOTE = '[The tool returned an image that is too large. It was left out.]';

/**
 * The content of a tool's result for a model: a string if it is one text. Texts share `charsMax`, and are cut in their middle. An image
 * that providers would refuse becomes a note, since each later request of the thread would have it too.
 */
export function contentOutput(content: readonly DynamicToolCallOutputContentItem[], charsMax: number): FunctionCallOutputBody {
  let charsLeft = charsMax;
  const items = content.map((item): FunctionCallOutputContentItem => {
    const shown = outputItem(item);
    if (shown.type !== 'input_text') return shown;
    const text = cutMiddle(shown.text, charsLeft);
    charsLeft = Math.max(0, charsLeft - text.length);
    return { type: 'input_text', text };
  });
  const [first] = items;
  if (first === undefined) return '';
  return items.length === 1 && first.type === 'input_text' ? first.text : items;
}

function outputItem(item: DynamicToolCallOutputContentItem): FunctionCallOutputContentItem {
  switch (item.type) {
    case 'inputText':
      return { type: 'input_text', text: item.text };
    case 'inputImage':
      if (!DATA_IMAGE.test(item.imageUrl)) return { type: 'input_text', text: REMOTE_IMAGE_NOTE };
      if (item.imageUrl.length > IMAGE_CHARS_MAX) return { type: 'input_text', text: LARGE_IMAGE_NOTE };
      return { type: 'input_image', image_url: item.imageUrl, detail: 'high' };
    case 'inputAudio':
      return { type: 'input_text', text: AUDIO_NOTE };
    default:
      return item satisfies never;
  }
}
