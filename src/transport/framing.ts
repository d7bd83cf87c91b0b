import { LineSplitter, type Skipped } from '../base/text/line-splitter.ts';
import { LINE_BYTES_MAX } from '../protocol/line-bytes-max.ts';
import { ContentLengthSplitter } from './content-length-splitter.ts';

/**
 * How messages are separated: by line ends, or by a header with the length before each, as language
 * servers do.
 */
export type Framing = 'lines' | 'content-length';

/** Splits bytes into messages. */
export interface Splitter {
  push(chunk: Buffer): void;
  /** The input has ended. */
  end(): void;
}

export function isFraming(text: string): text is Framing {
  return text === 'lines' || text === 'content-length';
}

export function createSplitter(
  framing: Framing,
  onMessage: (text: string) => void,
  onSkipped: (reason: Skipped) => void,
): Splitter {
  return framing === 'lines'
    ? new LineSplitter(onMessage, onSkipped, LINE_BYTES_MAX)
    : new ContentLengthSplitter(onMessage, onSkipped);
}

/** The messages with their framing, one after another. */
export function frame(framing: Framing, texts: readonly string[]): string {
  if (framing === 'lines') return `${texts.join('\n')}\n`;
  return texts.map((text) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`).join('');
}

/** One long message with its framing, in parts. */
export function frameLong(framing: Framing, parts: readonly Uint8Array[]): (Uint8Array | string)[] {
  if (framing === 'lines') return [...parts, '\n'];
  return [
    `Content-Length: ${parts.reduce((sum, { length }) => sum + length, 0)}\r\n\r\n`,
    ...parts,
  ];
}
