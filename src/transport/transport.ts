import type { Readable, Writable } from 'node:stream';
import type { Framing } from './framing.ts';

/** The two directions of a client's connection, as bytes. */
export interface Transport {
  input: Readable;
  output: Writable;
  /** By default `lines`. */
  framing?: Framing;
}
