import type { App } from '../app.ts';
import type { Log } from '../base/log.ts';
import type { StreamPair } from '../transport/stream-transport.ts';
import type { Transport } from '../transport/transport.ts';
import type { ServeOptions } from './command-line/command.ts';
import type { CommandHost } from './run-command.ts';

/** The streams that a client writes to, and reads from. */
export type Streams = Pick<StreamPair, 'input' | 'output'>;

/**
 * The exit code after an error inside the server that nothing has handled: EX_SOFTWARE of sysexits.
 */
export const EXIT_INTERNAL = 70;

/** A server, and its client's transport. */
export interface Service {
  server: Pick<App, 'connect' | 'drain' | 'close'>;
  transport: Transport;
  /** Closes the wire log. */
  end(): void;
}

/** A process that runs a server. */
export interface ServiceHost extends CommandHost {
  /** Starts a server, with a transport for a client that writes to `input`. */
  start(options: ServeOptions, log: Log, streams: Streams): Promise<Service>;
  /** Calls `end` for an error after which the process cannot go on. */
  onFault(log: Log, end: (error: Error) => void): void;
}
