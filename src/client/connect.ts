import { Client } from './client.ts';
import type { ClientOptions, ClientTransport } from './client-options.ts';

/** Attaches to a server over streams that are there: `input` is what the server writes, `output` what it reads. */
export function connect({ input, output, ...options }: ClientTransport & ClientOptions): Client {
  return new Client({ input, output }, options);
}
