import { inSlices } from '../base/in-slices.ts';
import { jsonPieces, jsonWeight } from '../base/text/json-pieces.ts';

/** The text of longer messages is made in pieces, with other work in between. */
const SHORT_CHARS_MAX = 256 * 1024;
/** The most characters of a message that are counted. */
const WEIGHED_CHARS_MAX = 8 * 1024 * 1024;
/** The longest message. It must fit into one string of the client. */
const MESSAGE_BYTES_MAX = 512 * 1024 * 1024 - 1024;
/** So many characters count as one unit of work. */
const CHARS_A_UNIT = 50;

/** A message that can be sent: its JSON text, or a long message. */
export type OutgoingMessage = string | LongMessage;

/**
 * The parts of a message: a value, and the JSON text before it and after it. At the end follows a
 * closing brace.
 */
interface MessageParts {
  head: string;
  value: unknown;
  /** By default nothing. */
  tail?: string;
  /** Sent instead of a message that is longer than MESSAGE_BYTES_MAX. */
  instead: () => string;
}

/**
 * Returns a message to send. A large value must not change until it is sent: its text is made when
 * the client has read all before.
 */
export function outgoing(parts: MessageParts): OutgoingMessage {
  const weight = jsonWeight(parts.value, WEIGHED_CHARS_MAX);
  return weight > SHORT_CHARS_MAX
    ? new LongMessage(() => bytesOf(parts), weight)
    : `${parts.head}${JSON.stringify(parts.value)}${parts.tail ?? ''}}`;
}

/**
 * A long message, whose text is made while other work goes on, and takes memory only while it is
 * written.
 */
export class LongMessage {
  /** About as many characters as its text has, or fewer. */
  readonly length: number;
  readonly #make: () => Promise<readonly Buffer[]>;
  #made: Promise<readonly Buffer[]> | null = null;
  #uses = 0;

  /** `make` resolves with the bytes of its text. */
  constructor(make: () => Promise<readonly Buffer[]>, length: number) {
    this.#make = make;
    this.length = length;
  }

  /**
   * Calls `use` with the bytes of the text, which are made once for all connections that use them
   * at the same time.
   */
  async withBytes(use: (bytes: readonly Buffer[]) => Promise<void>): Promise<void> {
    this.#uses++;
    this.#made ??= this.#make();
    try {
      await use(await this.#made);
    } finally {
      this.#uses--;
      if (this.#uses === 0) this.#made = null;
    }
  }
}

async function bytesOf({
  head,
  value,
  tail = '',
  instead,
}: MessageParts): Promise<readonly Buffer[]> {
  const bytes = [Buffer.from(head)];
  let length = 0;
  for await (const piece of inSlices(jsonPieces(value), (piece) => piece.length / CHARS_A_UNIT)) {
    const part = Buffer.from(piece);
    length += part.length;
    if (length > MESSAGE_BYTES_MAX) return [Buffer.from(instead())];
    bytes.push(part);
  }
  bytes.push(Buffer.from(`${tail}}`));
  return bytes;
}
