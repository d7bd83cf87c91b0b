import { KIND, oneOf, requireOptions } from '../base/text/require-options.ts';
import type { ClientOptions } from './client-options.ts';

/** The options that every client has. */
export const CLIENT_OPTIONS = {
  unhandledRequests: oneOf('refuse', 'leave'),
  onMessage: KIND.function,
  onSkipped: KIND.function,
};

/** Throws a TypeError if one of the options does not exist or is wrong. */
export function requireClientOptions(place: string, options: ClientOptions): void {
  requireOptions<ClientOptions>(place, options, CLIENT_OPTIONS);
}
