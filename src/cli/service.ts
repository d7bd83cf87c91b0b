import type { App } from '../app.ts';
import type { Transport } from '../transport/transport.ts';

/**
 * The exit code after an error inside the server that nothing has handled: EX_SOFTWARE of sysexits.
 */
export const EXIT_INTERNAL = 70;

/** A server, and its client's transport. */
export interface Service {
  server: Pick<App, 'connect' | 'close'>;
  transport: Transport;
  /** Closes the wire log. */
  end(): void;
}
