import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, createApp } from '../app.ts';
import { yieldByUnits } from '../base/event-loop-yield.ts';
import { processTag } from '../base/files/process-tag.ts';
import { createEmbeddedModel } from '../model/embedded/create-embedded-model.ts';
import type { AppParts } from '../services/app-parts.ts';
import { createSqliteStore } from '../store/sqlite/create-sqlite-store.ts';
import type { DatabasePlaces } from '../store/sqlite/database/open-database.ts';
import type { Transport } from '../transport/transport.ts';
import { CountingIds } from './counting-ids.ts';
import { FixedPace } from './fixed-pace.ts';
import { pacedTransport } from './paced-transport.ts';
import { VirtualClock } from './virtual-clock.ts';

/** The process, as a deterministic server uses it. */
export interface DeterministicHost {
  /** The database in a folder. */
  storeFiles(folder: string): DatabasePlaces;
  nodeVersions: NonNullable<AppParts['nodeVersions']>;
  /** The kinds of the resources that keep the event loop active. */
  activeResources(): string[];
}

/**
 * A server with a virtual clock, counting ids, and the given model or the embedded one. It has done
 * everything that it can do without the next message before it gets that, from whichever client.
 * `close` removes its data.
 */
export function createDeterministic(
  parts: Omit<AppParts, 'store' | 'pid' | 'clock' | 'ids'>,
  host: DeterministicHost,
): Pick<App, 'connect' | 'drain' | 'close'> {
  yieldByUnits();
  const clock = new VirtualClock();
  const model =
    parts.model === undefined
      ? createEmbeddedModel({ clock })
      : (parts.model.withClock?.(clock) ?? parts.model);
  const storeDir = mkdtempSync(join(tmpdir(), `heddle-deterministic-${processTag()}-`));
  // server/diagnostics must not show values of this process.
  const { residentMemoryBytes: _, ...same } = parts;
  // In this thread, since nothing else may depend on when another thread answers.
  const store = createSqliteStore({
    ...host.storeFiles(storeDir),
    clock,
    log: parts.log,
    pid: 0,
    nodeVersions: host.nodeVersions,
  });
  const clients = new Set<Transport>();
  const outputWaits = () => [...clients].some(({ backlog }) => backlog > 0);
  const pacing = new FixedPace({ clock, activeResources: host.activeResources, outputWaits });
  const server = createApp({
    ...same,
    pid: 0,
    model,
    clock,
    ids: new CountingIds(),
    store,
    storeDir,
    recordsTrust: false,
    pacing,
  });
  const paced = new PacedClients(server, pacing, clients);

  return {
    connect: (transport, options) => paced.connect(transport, options),
    drain: () => server.drain(),
    async close(reason) {
      pacing.release();
      try {
        return await server.close(reason);
      } finally {
        rmSync(storeDir, { recursive: true, force: true });
      }
    },
  };
}

/** Passes on the messages of all clients one by one, whenever the server is at rest. */
class PacedClients {
  readonly #server: App;
  readonly #pacing: FixedPace;
  readonly #clients: Set<Transport>;
  /** Those of which more messages may come. */
  readonly #writing = new Set<Transport>();
  #last = Promise.resolve();

  constructor(server: App, pacing: FixedPace, clients: Set<Transport>) {
    this.#server = server;
    this.#pacing = pacing;
    this.#clients = clients;
  }

  async connect(...[transport, options]: Parameters<App['connect']>): Promise<void> {
    this.#clients.add(transport);
    this.#writing.add(transport);
    const paced = pacedTransport(transport, {
      pass: (deliver, onSettled) =>
        this.#next(async () => {
          deliver();
          await this.#pacing.settle(this.#server, { isLast: false });
          onSettled();
        }),
      end: (deliver) => this.#next(() => this.#end(transport, deliver)),
    });
    await this.#server.connect(paced, options).finally(() => {
      this.#clients.delete(transport);
      this.#writing.delete(transport);
    });
  }

  async #end(transport: Transport, deliver: () => void): Promise<void> {
    this.#writing.delete(transport);
    const isLast = this.#writing.size === 0;
    await this.#pacing.settle(this.#server, { isLast });
    deliver();
    if (isLast) void this.#pacing.settleRequests(this.#server);
    else
      await this.#pacing.settle(this.#server, {
        isLast,
        isLeaving: () => this.#clients.has(transport),
      });
  }

  #next(work: () => Promise<void>): void {
    this.#last = this.#last.then(work);
  }
}
