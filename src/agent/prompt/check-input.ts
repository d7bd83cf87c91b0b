import { isRemoteImage } from '../../model/pictures/image-type.ts';
import { emptyInput, inputTooLarge, remoteImage } from '../../protocol/errors/turn-errors.ts';
import type { UserInput } from '../../protocol/generated/types.ts';

/** The longest text of one request, all parts together, in Unicode characters. */
export const INPUT_CHARS_MAX = 1_048_576;

/** Throws if the input is too long, if it has a remote image, or if it is empty and `required`. */
export function checkInput(input: readonly UserInput[], { required }: { required: boolean }): void {
  if (required && input.length === 0) throw emptyInput();
  for (const part of input)
    if (part.type === 'image' && 'url' in part && isRemoteImage(part.url)) throw remoteImage();
  checkTexts(input.flatMap((part) => (part.type === 'text' ? [part.text] : [])));
}

/** Throws if the texts of one request are too long, all together. */
export function checkTexts(texts: readonly string[]): void {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= INPUT_CHARS_MAX) return;
  // The limit counts Unicode characters. The length in UTF-16 units is never less, so only longer
  // input is counted exactly.
  let characters = 0;
  for (const text of texts) for (const _ of text) characters++;
  if (characters > INPUT_CHARS_MAX) throw inputTooLarge(INPUT_CHARS_MAX, characters);
}
