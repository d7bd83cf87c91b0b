import type { Log } from '../../base/log.ts';
import type { Sandbox } from '../sandbox.ts';
import type { SendSignal } from './ending/kill-processes.ts';

export interface ProcessesDeps {
  /** Null: there is no sandbox. */
  sandbox: Sandbox | null;
  platform: NodeJS.Platform;
  /** The environment of the server. */
  env: Readonly<Record<string, string | undefined>>;
  sendSignal: SendSignal;
  log: Log;
}
