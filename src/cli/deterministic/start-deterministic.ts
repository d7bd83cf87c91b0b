import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { type App, createApp } from '../../app.ts';
import type { AppParts } from '../../backend.ts';
import type { Clock } from '../../base/clock.ts';
import { processTag } from '../../base/process-tag.ts';
import { createEmbeddedModel } from '../../model/embedded/create-embedded-model.ts';
import type { Model } from '../../model/model.ts';
import type { NodeVersions } from '../../store/sqlite/connect/native-build-problem.ts';
import { createSqliteStore } from '../../store/sqlite/create-sqlite-store.ts';
import type { DatabasePlaces } from '../../store/sqlite/database/open-database.ts';
import type { Framing } from '../../transport/framing.ts';
import { streamTransport } from '../../transport/stream-transport.ts';
import type { Transport } from '../../transport/transport.ts';
import { CountingIds } from './counting-ids.ts';
import { FixedPace } from './fixed-pace.ts';
import { pacedInput } from './paced-input.ts';
import { VirtualClock } from './virtual-clock.ts';

/** A server of the command line, and its client's transport. */
export interface Service {
  server: Pick<App, 'connect' | 'close'>;
  transport: Transport;
  /** Removes temporary files and closes the wire log. */
  end(): void;
}

interface DeterministicOptions {
  framing: Framing;
  nodeVersions: NodeVersions;
  /** The model of `--model-script`. Resolves with null without that option. */
  model: (clock: Clock) => Promise<Model | null>;
  /** The database in a folder. */
  storePlaces: (folder: string) => DatabasePlaces;
  input: Readable;
  output: Writable;
  /** `process.getActiveResourcesInfo`. */
  activeResources: () => string[];
}

/** A server with a virtual clock, counting ids and a scripted model, whose data is removed at the end. */
export async function startDeterministic(parts: Omit<AppParts, 'store'>, options: DeterministicOptions): Promise<Service> {
  const { framing, output } = options;
  const clock = new VirtualClock();
  const model = (await options.model(clock)) ?? createEmbeddedModel({ clock });
  const storeDir = mkdtempSync(join(tmpdir(), `heddle-deterministic-${processTag()}-`));
  // server/diagnostics must not show values of this process.
  const { residentMemoryBytes: _, ...same } = parts;
  // In this thread, since nothing else may depend on when another thread answers.
  const places = options.storePlaces(storeDir);
  const store = createSqliteStore({ ...places, clock, log: parts.log, pid: 0, nodeVersions: options.nodeVersions });
  const pacing = new FixedPace({ clock, activeResources: options.activeResources, outputWaits: () => output.writableLength > 0 });
  const server = createApp({ ...same, pid: 0, model, clock, ids: new CountingIds(), store, storeDir, recordsTrust: false, pacing });
  const input = pacedInput({ from: options.input, framing, settle: (message) => pacing.settle(server, message) });
  input.once('end', () => void pacing.settleRequests(server));
  return {
    server: {
      connect: (transport, connecting) => server.connect(transport, connecting),
      close() {
        pacing.release();
        return server.close();
      },
    },
    transport: streamTransport({ input, output, framing }),
    end: () => rmSync(storeDir, { recursive: true, force: true }),
  };
}
