import { KIND, requireOptions } from '../base/text/require-options.ts';
import { Client } from './client.ts';
import type { ClientOptions, ClientTransport } from './client-options.ts';
import { CLIENT_OPTIONS } from './require-client-options.ts';

/**
 * Connects to a server over existing streams: the server writes to `input` and reads from `output`.
 * Throws a TypeError of one line if an option does not exist or is wrong.
 */
export function connect(given: ClientTransport & ClientOptions): Client {
  const kinds = { input: KIND.readable, output: KIND.writable, ...CLIENT_OPTIONS };
  requireOptions<ClientTransport & ClientOptions>('connect', given, kinds);
  if (given.input === undefined || given.output === undefined)
    throw new TypeError('connect: input and output must be streams');
  const { input, output, ...options } = given;
  return new Client({ input, output }, options);
}
