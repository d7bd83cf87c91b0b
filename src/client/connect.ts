import { requireKnownOptions } from '../base/text/require-known-options.ts';
import { Client } from './client.ts';
import type { ClientOptions, ClientTransport } from './client-options.ts';
import { CLIENT_OPTIONS } from './require-client-options.ts';

/**
 * Connects to a server over existing streams: the server writes to `input` and reads from `output`.
 * Throws a TypeError of one line if an option does not exist.
 */
export function connect(given: ClientTransport & ClientOptions): Client {
  requireKnownOptions<ClientTransport & ClientOptions>('connect', given, {
    input: true,
    output: true,
    ...CLIENT_OPTIONS,
  });
  const { input, output, ...options } = given;
  return new Client({ input, output }, options);
}
