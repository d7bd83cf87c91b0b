import type { Clock } from './clock.ts';
import type { Ids } from './ids.ts';
import type { KeepAlive } from './keep-alive.ts';
import type { Log } from './log.ts';
import type { Pace } from './pace.ts';

/** The services of the process that every part of the server may need. */
export interface Runtime {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly keepAlive: KeepAlive;
  /** Decides when calls that the model made together begin. */
  readonly pace: Pace;
  /** The script that loads workers. Null: their work is done in this thread. */
  readonly workerScript: string | null;
}
