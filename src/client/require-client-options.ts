import { requireKnownOptions } from '../base/text/require-known-options.ts';
import type { ClientOptions } from './client-options.ts';

/** The names of the options that every client has. */
export const CLIENT_OPTIONS = {
  unhandledRequests: true,
  onMessage: true,
  onSkipped: true,
} as const satisfies Record<keyof Required<ClientOptions>, true>;

/** Throws a TypeError if one of the options does not exist. */
export function requireClientOptions(place: string, options: ClientOptions): void {
  requireKnownOptions<ClientOptions>(place, options, CLIENT_OPTIONS);
}
