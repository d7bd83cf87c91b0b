import type { Readable, Writable } from 'node:stream';

/** The two directions of a client's connection, as bytes. */
export interface Transport {
  input: Readable;
  output: Writable;
}
