import type {
  ContentItem,
  FunctionCallOutputContentItem,
  ResponseItem,
} from '../../protocol/generated/types.ts';

type Part = ContentItem | FunctionCallOutputContentItem;
export type PicturePart = Extract<Part, { type: 'input_image' }>;
export type TextPart = Extract<Part, { type: 'input_text' }>;

/** Returns the pictures of an item: those of a message, or of the output of a call. */
export function pictureParts(item: ResponseItem): PicturePart[] {
  return (partsOf(item) ?? []).filter((part) => part.type === 'input_image');
}

/** Returns the item with other parts in the place of its pictures. */
export async function mapPictures(
  item: ResponseItem,
  map: (part: PicturePart) => Promise<PicturePart | TextPart>,
): Promise<ResponseItem> {
  const parts: Part[] = [];
  for (const part of partsOf(item) ?? [])
    parts.push(part.type === 'input_image' ? await map(part) : part);
  if (item.type === 'message') return { ...item, content: parts as ContentItem[] };
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return item;
  const output = parts as FunctionCallOutputContentItem[];
  return { ...item, output: isWrapped(item.output) ? { ...item.output, body: output } : output };
}

function partsOf(item: ResponseItem): readonly Part[] | null {
  if (item.type === 'message') return item.content;
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return null;
  const body = isWrapped(item.output) ? item.output.body : item.output;
  return Array.isArray(body) ? body : null;
}

/** A tool's output may be stored with a success flag. */
function isWrapped<T>(output: T): output is Extract<T, { body: unknown }> {
  return typeof output === 'object' && output !== null && 'body' in output;
}
