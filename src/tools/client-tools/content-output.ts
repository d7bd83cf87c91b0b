import { type ForeignPart, foreignOutput, imageAt } from '../../instructions/foreign-output.ts';
import type {
  DynamicToolCallOutputContentItem,
  FunctionCallOutputBody,
} from '../../protocol/generated/types.ts';

/**
 * The content of a tool's result for a model: a string if it is one text. Texts share `charsMax`.
 */
export async function contentOutput(
  content: readonly DynamicToolCallOutputContentItem[],
  charsMax: number,
): Promise<FunctionCallOutputBody> {
  const items = await foreignOutput(content.map(foreignPart), charsMax);
  const [first] = items;
  if (first === undefined) return '';
  return items.length === 1 && first.type === 'input_text' ? first.text : items;
}

function foreignPart(item: DynamicToolCallOutputContentItem): ForeignPart {
  switch (item.type) {
    case 'inputText':
      return { type: 'text', text: item.text };
    case 'inputImage':
      return imageAt(item.imageUrl, 'high');
    case 'inputAudio':
      return { type: 'other', what: 'audio' };
    default:
      return item satisfies never;
  }
}
