import type { Readable, Writable } from 'node:stream';
import { createSplitter, type Framing, frame, frameLong } from './framing.ts';
import type { Transport } from './transport.ts';

/** A pair of byte streams, such as stdin and stdout. */
export interface StreamPair {
  input: Readable;
  output: Writable;
  /** By default `lines`. */
  framing?: Framing;
}

/**
 * A message of up to this size is written at once: as much fits into an empty pipe. Some clients
 * take each chunk that they read for whole messages.
 */
const WHOLE_BYTES_MAX = 64 * 1024;

/** The most bytes that the framing adds to a message. */
const FRAME_BYTES = 32;

/** Carries messages over a pair of byte streams. */
export function streamTransport({ input, output, framing = 'lines' }: StreamPair): Transport {
  return {
    listen({ onMessage, onSkipped, onEnd }) {
      const splitter = createSplitter(framing, onMessage, onSkipped);
      const onData = (chunk: Buffer) => splitter.push(chunk);
      const onInputEnd = () => {
        splitter.end();
        onEnd(null);
      };
      input.on('data', onData);
      input.once('end', onInputEnd);
      input.once('error', onEnd);
      return () => {
        input.off('data', onData);
        input.off('end', onInputEnd);
        input.off('error', onEnd);
      };
    },
    pause: () => void input.pause(),
    resume: () => void input.resume(),
    write: (texts, onTaken) =>
      writeAll(
        output,
        wholeGroups(texts).map((group) => frame(framing, group)),
        onTaken,
      ),
    writeLong(parts, onTaken) {
      const framed = frameLong(framing, parts).map((part) =>
        typeof part === 'string' ? Buffer.from(part) : part,
      );
      const length = framed.reduce((sum, part) => sum + part.length, 0);
      writeAll(output, length <= WHOLE_BYTES_MAX ? [Buffer.concat(framed)] : framed, onTaken);
    },
    get backlog() {
      return output.writableLength;
    },
    onWriteError: (callback) => void output.on('error', callback),
    end: () => void output.end(),
  };
}

/** Joins messages to groups of up to WHOLE_BYTES_MAX, or of one message that is larger. */
function wholeGroups(texts: readonly string[]): string[][] {
  const groups: string[][] = [];
  let left = 0;
  for (const text of texts) {
    const bytes = Buffer.byteLength(text) + FRAME_BYTES;
    if (bytes > left) {
      groups.push([]);
      left = WHOLE_BYTES_MAX;
    }
    groups.at(-1)?.push(text);
    left -= bytes;
  }
  return groups;
}

/** Calls `onTaken` when the last of the chunks was taken. */
function writeAll(
  output: Writable,
  chunks: readonly (string | Uint8Array)[],
  onTaken: () => void,
): void {
  const [last = ''] = chunks.slice(-1);
  for (const chunk of chunks.slice(0, -1)) output.write(chunk);
  output.write(last, onTaken);
}
