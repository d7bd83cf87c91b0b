import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Transport } from './transport.ts';

/** A longer message is sent in several frames: clients refuse longer ones. */
export const FRAME_BYTES_MAX = 16 * 1024 * 1024;
/** The codes of a close frame, from RFC 6455 and the registry of IANA. */
const GOING_AWAY = 1001;
const TRY_AGAIN_LATER = 1013;

const TEXT = 0x1;
const CONTINUATION = 0x0;
const FINAL = 0x80;
const BITS_16 = 126;
const BITS_64 = 127;

/** The most bytes of frames that are kept for other clients in one round of the event loop. */
const SHARED_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Frames of the messages that were sent last. A message for many clients is one string, which is
 * encoded once.
 */
export class SharedFrames {
  #frames = new Map<string, Buffer>();
  #bytes = 0;
  /** The messages that were written last, and their frames. */
  #last: { texts: readonly string[]; frames: Buffer } | null = null;

  /** The frames of several messages. Followers of one thread are mostly sent the same ones. */
  ofAll(texts: readonly string[]): Buffer {
    if (this.#last !== null && isSame(this.#last.texts, texts)) return this.#last.frames;
    const frames = Buffer.concat(texts.map((text) => this.of(text)));
    // `of` has asked that it be forgotten at the end of the round.
    if (this.#bytes < SHARED_BYTES_MAX) this.#last = { texts, frames };
    return frames;
  }

  of(text: string): Buffer {
    const known = this.#frames.get(text);
    if (known !== undefined) return known;
    const frame = framed(Buffer.from(text));
    if (this.#bytes === 0) setImmediate(() => this.#forget());
    this.#bytes += frame.length;
    if (this.#bytes < SHARED_BYTES_MAX) this.#frames.set(text, frame);
    return frame;
  }

  /** By then, the connections have written what they were to send in this round of events. */
  #forget(): void {
    this.#frames = new Map();
    this.#bytes = 0;
    this.#last = null;
  }
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, index) => text === others[index]);
}

/**
 * Carries messages over a web socket. Each text frame is one message. `stream`: the stream below
 * the web socket, after the upgrade. `peer`: see `Transport`.
 */
export function webSocketTransport(
  { socket, stream, peer }: { socket: WebSocket; stream: Duplex; peer: string },
  frames: SharedFrames,
): Transport {
  // One of the two sides closes it: nothing may follow the frame that says so.
  let isCutOff = false;
  const isOver = () => socket.readyState !== socket.OPEN;
  return {
    isRemote: true,
    peer,
    listen({ onMessage, onSkipped, onEnd }) {
      const onData = (data: unknown, isBinary: boolean) => {
        // A client that does not hear the answers must give no orders.
        if (isCutOff) return;
        if (isBinary) onSkipped('it is a binary frame');
        else onMessage(String(data));
      };
      const onClose = () => onEnd(null);
      socket.on('message', onData);
      socket.once('close', onClose);
      return () => {
        socket.off('message', onData);
        socket.off('close', onClose);
      };
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    write(texts, onTaken) {
      if (isOver()) onTaken();
      else stream.write(frames.ofAll(texts), onTaken);
    },
    writeLong(parts, onTaken) {
      if (isOver()) return onTaken();
      stream.cork();
      for (const frame of inFrames(parts)) stream.write(frame);
      stream.write(NOTHING, onTaken);
      stream.uncork();
    },
    get backlog() {
      return stream.writableLength;
    },
    onWriteError(callback) {
      stream.once('error', callback);
      socket.once('close', () => callback(null));
    },
    end(why) {
      isCutOff = why === 'slow';
      // Else the client's answer to the close would not be read.
      socket.resume();
      socket.close(why === 'slow' ? TRY_AGAIN_LATER : GOING_AWAY);
    },
  };
}

const NOTHING = Buffer.alloc(0);

/** A message as one frame. */
function framed(text: Uint8Array): Buffer {
  return Buffer.concat([header(text.length, { opcode: TEXT, isLast: true }), text]);
}

/** The frames of a message that is given in parts, as pieces of their bytes. */
function* inFrames(parts: readonly Uint8Array[]): Generator<Uint8Array, void, void> {
  let left = parts.reduce((sum, part) => sum + part.length, 0);
  let room = 0;
  let opcode = TEXT;
  for (const part of parts) {
    for (let from = 0; from < part.length; ) {
      if (room === 0) {
        room = Math.min(left, FRAME_BYTES_MAX);
        left -= room;
        yield header(room, { opcode, isLast: left === 0 });
        opcode = CONTINUATION;
      }
      const piece = part.subarray(from, from + room);
      yield piece;
      from += piece.length;
      room -= piece.length;
    }
  }
}

/** The beginning of a frame with so many bytes. Frames of a server are not masked. */
function header(length: number, { opcode, isLast }: { opcode: number; isLast: boolean }): Buffer {
  const first = (isLast ? FINAL : 0) | opcode;
  if (length < BITS_16) return Buffer.from([first, length]);
  const bytes = Buffer.alloc(length > 0xffff ? 10 : 4);
  bytes[0] = first;
  if (length > 0xffff) {
    bytes[1] = BITS_64;
    bytes.writeBigUInt64BE(BigInt(length), 2);
  } else {
    bytes[1] = BITS_16;
    bytes.writeUInt16BE(length, 2);
  }
  return bytes;
}
