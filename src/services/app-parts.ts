import type { TurnPartKind } from '../agent/turn/turn-part-deps.ts';
import type { Clock } from '../base/clock.ts';
import type { Env } from '../base/env.ts';
import type { Ids } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Pace } from '../base/pace.ts';
import type { ConfigSources } from '../config/load-config.ts';
import type { EditToml } from '../config/writing/toml-edit.ts';
import type { Model } from '../model/model.ts';
import type { ScalePicture } from '../model/pictures/scaled-pictures.ts';
import type { Dial } from '../network/checked-dial.ts';
import type { Installation } from '../sandbox/places/server-places.ts';
import type { Processes } from '../sandbox/processes/processes.ts';
import type { NodeVersions } from '../store/sqlite/connect/native-build-problem.ts';
import type { ThreadStore } from '../store/thread-store.ts';
import type { WireTap } from '../transport/wire-tap.ts';

/** The parts that a server is made from. */
export interface AppParts {
  /**
   * The absolute path of the folder of config.toml and of the database. Created when it is needed.
   */
  home: string;
  /** The absolute working directory of threads that name none. */
  cwd: string;
  env: Env;
  /** Settings that override config.toml. */
  overrides?: ConfigSources['overrides'];
  log: Log;
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
  /** The files that the server was started from. Commands cannot change them. */
  installation: Installation;
  /**
   * `process.versions`, to warn of a better-sqlite3 that is built for another Node. Without them
   * there is no warning.
   */
  nodeVersions?: NodeVersions;
  clock?: Clock;
  ids?: Ids;
  /**
   * Answers for every provider. Providers are then only names: they need no definition, and are
   * never asked.
   */
  model?: Model;
  /** The folder of the database, by default `home`. */
  storeDir?: string;
  /** False: nothing is written to the record of trusted files. Default: true. */
  recordsTrust?: boolean;
  /** Has the threads. Closed with the server. */
  store: ThreadStore;
  /**
   * The built script of the thread in which searches rank paths. By default they do so in this
   * thread.
   */
  searchScript?: string;
  /** Called when a client's handshake has been answered. */
  onHandshake?: () => void;
  /** The built script of the thread of commands' proxies. Absent: they are in this thread. */
  proxyScript?: string;
  /**
   * Connects the proxies of commands in this thread to hosts, by default as the system resolves
   * their names.
   */
  dial?: Dial;
  /**
   * The built script of the thread that speaks with MCP servers. By default that happens in this
   * thread.
   */
  mcpScript?: string;
  /** Further parts of every thread's turns. They act after the built-in ones. */
  partKinds?: readonly TurnPartKind[];
  /** Sees every message of every connection. */
  tap?: WireTap;
  /**
   * The absolute path of the folder with the configuration and the requirements for all users. By
   * default there is none.
   */
  systemDir?: string | null;
  /** Edits the text of config.toml. By default in this thread. */
  editToml?: EditToml;
  /** Scales a picture. By default in this thread. */
  scalePicture?: ScalePicture;
  /**
   * Called once, when responses that take much memory are under way. By default nothing is done
   * about it.
   */
  onLongResponses?: () => void;
  /**
   * False: the start files of the user's shell are not read for its variables. Default: true. Tests
   * set it, so that they do not depend on the user's shell.
   */
  readsShellExports?: boolean;
  /** Orders what happens at the same time. By default everything happens at once. */
  pacing?: Pacing;
}

/** Decides the order of everything that happens at the same time. */
export interface Pacing extends Pace {
  /** Returns processes whose output and ends are heard in a fixed order. */
  processes(inner: Processes): Processes;
  /** Returns the store with every call counted as work. */
  store(inner: ThreadStore): ThreadStore;
}
