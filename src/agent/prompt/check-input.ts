import type { UserInput } from '../../protocol/generated/types.ts';
import { emptyInput, inputTooLarge } from '../../protocol/rpc-error.ts';

/** The longest text that one request may bring, in characters, its parts together. */
export const INPUT_CHARS_MAX = 1_048_576;

/** Refuses input that is too long; with `required`, also input that is none. */
export function checkInput(input: readonly UserInput[], { required }: { required: boolean }): void {
  if (required && input.length === 0) throw emptyInput();
  let length = 0;
  for (const part of input) if (part.type === 'text') length += part.text.length;
  if (length <= INPUT_CHARS_MAX) return;
  // Characters are counted as Unicode does: the length of a text in UTF-16 is never less.
  let characters = 0;
  for (const part of input) if (part.type === 'text') for (const _ of part.text) characters++;
  if (characters > INPUT_CHARS_MAX) throw inputTooLarge(INPUT_CHARS_MAX, characters);
}
