import { cutText } from '../../base/text/cut-text.ts';
import type { UserInput } from '../../protocol/generated/types.ts';
import type { ThreadPatch, ThreadRecord } from '../../store/thread-record.ts';

/** The longest preview, in characters. */
const PREVIEW_CHARS_MAX = 500;

/** The preview of a thread that begins with this input: its text, truncated. */
export function threadPreview(input: readonly UserInput[]): string {
  return textPreview(input.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'));
}

/** The preview of a thread that begins with this text. */
export function textPreview(text: string): string {
  return cutText(text, PREVIEW_CHARS_MAX);
}

/**
 * Gives a thread its preview, unless it has one. That of a command is only for as long as there is
 * no other.
 */
export function previewPatch(
  { preview, previewIsCommand }: Pick<ThreadRecord, 'preview' | 'previewIsCommand'>,
  text: string,
  { isCommand }: { isCommand: boolean } = { isCommand: false },
): ThreadPatch {
  const isGiven = preview !== '' && (isCommand || !previewIsCommand);
  return isGiven || text === '' ? {} : { preview: text, previewIsCommand: isCommand };
}
