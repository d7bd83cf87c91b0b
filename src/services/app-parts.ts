import type { TurnPartKind } from '../agent/turn/turn-part-kind.ts';
import type { Clock } from '../base/clock.ts';
import type { Env } from '../base/env.ts';
import type { Ids } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Pace } from '../base/pace.ts';
import type { ConfigSources } from '../config/load-config.ts';
import type { Model } from '../model/model.ts';
import type { Dial } from '../network/checked-dial.ts';
import type { Installation } from '../sandbox/places/server-places.ts';
import type { Processes } from '../sandbox/processes/processes.ts';
import type { NodeVersions } from '../store/sqlite/connect/native-build-problem.ts';
import type { ThreadStore } from '../store/thread-store.ts';
import type { WireTap } from '../transport/wire-tap.ts';

/** The places of a server: its folders, its environment and the settings that lie there. */
interface AppPlaces {
  /**
   * The absolute path of the folder of config.toml and of the database. Created when it is needed.
   */
  home: string;
  /** The absolute working directory of threads that name none. */
  cwd: string;
  env: Env;
  /** The folder of the database, by default `home`. */
  storeDir?: string;
  /**
   * The absolute path of the folder with the configuration and the requirements for all users. By
   * default there is none.
   */
  systemDir?: string | null;
  /** Settings that override config.toml. */
  overrides?: ConfigSources['overrides'];
  /** False: nothing is written to the record of trusted files. Default: true. */
  recordsTrust?: boolean;
}

/** The process that the server is, and its program. */
interface AppProcess {
  /** The server's own version. */
  version: string;
  platform: NodeJS.Platform;
  /**
   * This process's id. Other processes get it in the error for a thread that this process has
   * loaded.
   */
  pid: number;
  /** `process.kill`. */
  sendSignal: (pid: number, signal: NodeJS.Signals) => void;
  /**
   * The resident memory of the process, in bytes, for `server/diagnostics`. Without it, the answer
   * there is null.
   */
  residentMemoryBytes?: () => number;
  /**
   * `process.versions`, to warn of a better-sqlite3 that is built for another Node. Without them
   * there is no warning.
   */
  nodeVersions?: NodeVersions;
  /** The files that the server was started from. Commands cannot change them. */
  installation: Installation;
  /** Whether the server goes on without clients, which can connect again. Default: no. */
  outlivesClients?: boolean;
  log: Log;
}

/** The place of heavy work. */
interface AppScripts {
  /**
   * The absolute path of the script that loads workers. Absent: everything runs in this thread but
   * the store, which is given.
   */
  workerScript?: string;
}

/** The choices of who embeds the server. */
interface AppChoices {
  /**
   * Answers for every provider. Providers are then only names: they need no definition, and are
   * never asked.
   */
  model?: Model;
  /** Further parts of every thread's turns. They act after the built-in ones. */
  partKinds?: readonly TurnPartKind[];
  /**
   * Connects the proxies of commands in this thread to hosts, by default as the system resolves
   * their names.
   */
  dial?: Dial;
  /** False: the start files of the user's shell are not read for its variables. Default: true. */
  readsShellExports?: boolean;
  clock?: Clock;
  ids?: Ids;
  /** Orders what happens at the same time. By default everything happens at once. */
  pacing?: Pacing;
}

/** The store of a server, and what watches its life. */
interface AppWatch {
  /** Has the threads. Closed with the server. */
  store: ThreadStore;
  /** Sees every message of every connection. */
  tap?: WireTap;
  /** Called when a client's handshake has been answered. */
  onHandshake?: () => void;
  /**
   * Called once, when responses that take much memory are under way. By default nothing is done
   * about it.
   */
  onLongResponses?: () => void;
}

/** The parts that a server is made from, in groups. */
export interface AppParts extends AppPlaces, AppProcess, AppScripts, AppChoices, AppWatch {}

/** Decides the order of everything that happens at the same time. */
export interface Pacing extends Pace {
  /** Returns processes whose output and ends are heard in a fixed order. */
  processes(inner: Processes): Processes;
  /** Returns the store with every call counted as work. */
  store(inner: ThreadStore): ThreadStore;
}
