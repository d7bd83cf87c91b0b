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
    write: (texts, onTaken) => void output.write(texts.length === 0 ? '' : frame(framing, texts), onTaken),
    writeLong(parts, onTaken) {
      for (const part of frameLong(framing, parts)) output.write(part);
      output.write('', onTaken);
    },
    get backlog() {
      return output.writableLength;
    },
    onWriteError: (callback) => void output.on('error', callback),
    end: () => void output.end(),
  };
}
