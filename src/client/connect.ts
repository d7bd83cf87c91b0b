import { Client } from './client.ts';
import type { ClientOptions, ClientTransport } from './client-options.ts';

/** Connects to a server over existing streams: the server writes to `input` and reads from `output`. */
export function connect({ input, output, ...options }: ClientTransport & ClientOptions): Client {
  return new Client({ input, output }, options);
}
