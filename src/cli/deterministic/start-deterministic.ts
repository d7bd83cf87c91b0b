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

/** The process, as a deterministic server uses it. */
export interface DeterministicHost {
  input: Readable;
  output: Writable;
  framing: Framing;
  /** The model of `--model-script`. Resolves with null without that option. */
  scriptModel(clock: Clock): Promise<Model | null>;
  storeFiles(folder: string): DatabasePlaces;
  nodeVersions: NonNullable<AppParts['nodeVersions']>;
  /** The kinds of the resources that keep the event loop active. */
  activeResources(): string[];
}

/** A server with a virtual clock, counting ids and a scripted model. `end` removes its data. */
export async function startDeterministic(
  parts: Omit<AppParts, 'store'>,
  { input: from, output, framing, ...host }: DeterministicHost,
): Promise<Service> {
  const clock = new VirtualClock();
  const model = (await host.scriptModel(clock)) ?? createEmbeddedModel({ clock });
  const storeDir = mkdtempSync(join(tmpdir(), `heddle-deterministic-${processTag()}-`));
  // server/diagnostics must not show values of this process.
  const { residentMemoryBytes: _, ...same } = parts;
  // In this thread, since nothing else may depend on when another thread answers.
  const store = createSqliteStore({ ...host.storeFiles(storeDir), clock, log: parts.log, pid: 0, nodeVersions: host.nodeVersions });
  const pacing = new FixedPace({ clock, activeResources: host.activeResources, outputWaits: () => output.writableLength > 0 });
  const server = createApp({ ...same, pid: 0, model, clock, ids: new CountingIds(), store, storeDir, recordsTrust: false, pacing });
  const input = pacedInput({ from, framing, settle: (message) => pacing.settle(server, message) });
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
