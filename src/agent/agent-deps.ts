import type { Clock } from '../base/clock.ts';
import type { Env } from '../base/env.ts';
import type { Ids } from '../base/ids.ts';
import type { KeepAlive } from '../base/keep-alive.ts';
import type { Log } from '../base/log.ts';
import type { ProviderConfig } from '../config/providers/provider-config.ts';
import type { InstalledModels } from '../model/http/installed-models.ts';
import type { Model } from '../model/model.ts';
import type { Processes } from '../sandbox/processes/processes.ts';
import type { ThreadStore } from '../store/thread-store.ts';
import type { Publisher } from './publisher.ts';
import type { TurnPartKind } from './turn/turn-part.ts';

/** What the agent is given by whoever puts the server together. */
export interface AgentDeps {
  store: ThreadStore;
  publisher: Publisher;
  clock: Clock;
  ids: Ids;
  log: Log;
  keepAlive: KeepAlive;
  /** What runs commands. */
  processes: Processes;
  /** Absolute: where config.toml and the threads are. */
  home: string;
  /** Absolute: the folder of threads that name none. */
  cwd: string;
  env: Env;
  /** `key=value` texts of the command line, over config.toml. */
  overrides: readonly string[];
  /** One model answers for all providers: none needs to be defined. */
  modelGiven: boolean;
  /** The model behind a provider. */
  modelFor(provider: ProviderConfig): Promise<Model>;
  /** The models that a provider says it has; null: it did not say. Never rejects, and takes a second at most. */
  installedModels(provider: ProviderConfig): Promise<InstalledModels>;
  /** The parts that every thread's turns have, in the order in which they act. */
  partKinds: readonly TurnPartKind[];
  /** Called when a turn has ended and clients have been told. */
  onTurnEnded(threadId: string): void;
}
