import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type SpawnedClient, spawnServer } from '../../src/client/spawn-server.ts';
import type {
  ServerNotifications,
  Turn,
  TurnStartParams,
  UserInput,
} from '../../src/protocol/generated/types.ts';
import { ProviderServer } from '../model/provider-server.ts';
import { type BusyServer, LOADS } from '../process/hostile/busy-loads.ts';
import { streamOf } from '../process/hostile/stream-of.ts';
import type { Row } from './table.ts';
import type { Bench, Subject } from './workloads.ts';

const PROBE = pathToFileURL(
  join(import.meta.dirname, '..', 'process', 'hostile', 'loop-probe.js'),
).href;
const REPETITIONS = { whole: 5, quick: 1 };
/** It is looked for in all that the provider sends. */
const KEY = 'sk-0123456789abcdefghijklmnopqrstuv';
const PROBE_WAIT_MS = 5;
/** What loads are sent to a server that has just started, too. */
const AFTER_START = 'resume after a start';

interface Gap {
  /**
   * How long the main thread did not answer, without the time in which it waited for a processor.
   */
  blockedMs: number;
  /** The longest work without a pause, as a usual machine would have taken. */
  workedMs: number;
}

export interface GapOptions {
  subject: Subject;
  bench: Bench;
  /** A part of the names of the loads to measure. */
  named?: string;
  /** Further options of Node for the servers. */
  nodeOptions?: string;
}

/**
 * Measures for each load the longest time for which the main thread of the server does not answer.
 */
export async function measureGaps({
  subject,
  bench,
  named = '',
  nodeOptions = '',
}: GapOptions): Promise<Row[]> {
  const rows: Row[] = [];
  const measurements = { ...LOADS, [AFTER_START]: null };
  for (const [name, load] of Object.entries(measurements).filter(([each]) =>
    each.includes(named),
  )) {
    process.stderr.write(`gaps: ${name} …\n`);
    const gaps: Gap[] = [];
    for (let times = 0; times < (bench.quick ? REPETITIONS.quick : REPETITIONS.whole); times++) {
      const folder = mkdtempSync(join(bench.folder, 'gap-'));
      const place = { subject, folder, nodeOptions };
      gaps.push(await (load === null ? gapOfResume(place) : gapOf(load, place)));
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    }
    rows.push({
      name,
      unit: 'ms',
      values: {
        blocked: gaps.map(({ blockedMs }) => blockedMs),
        working: gaps.map(({ workedMs }) => workedMs),
      },
    });
  }
  return rows;
}

interface Place {
  subject: Subject;
  folder: string;
  nodeOptions: string;
}

async function gapOf(load: (typeof LOADS)[string], place: Place): Promise<Gap> {
  await using server = await ProbedServer.start(place);
  const work = join(place.folder, 'work');
  mkdirSync(work);
  await server.warmUp(place.folder);
  const run = await load(server, work);
  await server.gap();
  await run();
  return await server.gap();
}

async function gapOfResume(place: Place): Promise<Gap> {
  const first = await ProbedServer.start(place);
  const { thread } = await first.request('thread/start', { cwd: place.folder });
  for (let turn = 0; turn < 20; turn++) await first.turn(thread.id, 'go');
  await first[Symbol.asyncDispose]();
  await using server = await ProbedServer.start(place);
  await server.request('thread/resume', { threadId: thread.id });
  return await server.gap();
}

/** A server with a probe that measures how long its main thread does not answer. */
class ProbedServer implements BusyServer {
  readonly home: string;
  readonly heddle = this;
  readonly request: SpawnedClient['request'];
  readonly #client: SpawnedClient;
  readonly #provider: ProviderServer;
  readonly #said: object[][];
  readonly #probe: Socket;
  readonly #reports: Interface;
  readonly #seen: { method: string; params: unknown }[] = [];

  private constructor(
    home: string,
    {
      client,
      provider,
      said,
      probe,
    }: { client: SpawnedClient; provider: ProviderServer; said: object[][]; probe: Socket },
  ) {
    this.home = home;
    this.request = client.request.bind(client);
    this.#client = client;
    this.#provider = provider;
    this.#said = said;
    this.#probe = probe;
    this.#reports = createInterface(probe);
    client.subscribe({
      take: ({ method, params }) => void this.#seen.push({ method, params }),
      end: () => {},
    });
  }

  static async start({ subject, folder, nodeOptions }: Place): Promise<ProbedServer> {
    const said: object[][] = [];
    const provider = await ProviderServer.start((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(streamOf(said.shift() ?? []));
    });
    const home = join(folder, 'home');
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'config.toml'), configOf(provider.port));
    const path = join(folder, 'probe.sock');
    rmSync(path, { force: true });
    const [command, ...args] = subject.command;
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      HEDDLE_HOME: home,
      BENCH_KEY: KEY,
      NODE_OPTIONS: `--import=${PROBE} ${nodeOptions}`,
      HEDDLE_PROBE: path,
    };
    const client = spawnServer({ command, args, cwd: home, env });
    const probe = await connected(path);
    const server = new ProbedServer(home, { client, provider, said, probe });
    // Not measured: Node and the code of the handshake are loaded.
    await server.gap();
    await client.initialize({
      clientInfo: { name: 'bench', version: '1' },
      capabilities: { experimentalApi: true },
    });
    return server;
  }

  readonly say = (...responses: object[][]): void => void this.#said.push(...responses);

  /** The longest gap since the last call. */
  async gap(): Promise<Gap> {
    const line = once(this.#reports, 'line');
    this.#probe.write('report\n');
    const [text] = (await line) as [string];
    return JSON.parse(text) as Gap;
  }

  /** Loads what is loaded at its first use. */
  async warmUp(cwd: string): Promise<void> {
    const { thread } = await this.request('thread/start', { cwd, approvalPolicy: 'never' });
    const call = {
      type: 'function_call',
      id: 'fc',
      call_id: 'c',
      name: 'exec_command',
      arguments: '{"cmd":"true","login":false}',
    };
    const input = '*** Begin Patch\n*** End Patch';
    this.say([
      call,
      { type: 'custom_tool_call', id: 'ctc', call_id: 'p', name: 'apply_patch', input },
    ]);
    await this.turn(thread.id, 'go');
    await this.request('thread/delete', { threadId: thread.id });
  }

  async turn(
    threadId: string,
    input: string | UserInput[],
    settings: Partial<TurnStartParams> = {},
  ): Promise<Turn> {
    const { turn } = await this.#client.turn({ ...settings, threadId, input }).result;
    return turn;
  }

  /** Resolves with the params of the first notification that fits, which may have come already. */
  async waitFor<Method extends keyof ServerNotifications>(
    method: Method,
    fits: (params: ServerNotifications[Method]) => boolean = () => true,
  ): Promise<ServerNotifications[Method]> {
    const coming = this.#client.notifications(method);
    const seen = this.#seen.find(
      (each) => each.method === method && fits(each.params as ServerNotifications[Method]),
    );
    if (seen !== undefined) return seen.params as ServerNotifications[Method];
    for await (const params of coming) if (fits(params)) return params;
    throw new Error('the server has ended');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#probe.destroy();
    await this.#client.close();
    await this.#provider[Symbol.asyncDispose]();
  }
}

/** Connects to the probe once it listens. */
async function connected(path: string): Promise<Socket> {
  for (;;) {
    const socket = connect(path).on('error', () => {});
    const isConnected = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    if (isConnected) return socket;
    await sleep(PROBE_WAIT_MS);
  }
}

function configOf(port: number): string {
  const lines = [
    'model = "bench"',
    'model_provider = "bench"',
    'project_doc_max_bytes = 1048576',
    'model_context_window = 1000000000',
    '[model_providers.bench]',
    `base_url = "http://127.0.0.1:${port}/v1"`,
    'env_key = "BENCH_KEY"',
  ];
  return `${lines.join('\n')}\n`;
}
