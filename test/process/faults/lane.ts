import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Message } from '../../support/test-client.ts';
import { within } from '../hostile/within.ts';
import { HeddleProcess, type Place, place, providerToml } from '../support.ts';
import { FaultyDisk } from './faulty-disk.ts';
import { type KnownThread, Ledger } from './ledger.ts';
import { PlannedModel } from './planned-model.ts';

/** Far longer than any start, answer or end takes. */
export const ANSWER_MS_MAX = 15_000;

/** The model may stall as long as a world takes. */
const STALL_MS_MAX = 600_000;

/** A home and the servers in it, which run one world after the other. */
export class Lane {
  readonly where: Place;
  /** The folder of everything that belongs to the lane. */
  readonly folder: string;
  readonly ledger = new Ledger();
  readonly model: PlannedModel;
  /** Null: the library could not be compiled. */
  readonly disk: FaultyDisk | null;
  /** Threads of earlier worlds, which must stay as they were. */
  readonly kept: KnownThread[] = [];
  /** Called for each message of a server. */
  onMessage: (message: Message, from: HeddleProcess) => void = () => {};
  #workspaces = 0;
  readonly #servers = new Map<number, HeddleProcess>();
  /** Servers that were ended by the test. */
  readonly #ended = new WeakSet<HeddleProcess>();

  private constructor(model: PlannedModel, library: string | null) {
    this.model = model;
    this.where = place({
      'config.toml': providerToml(model.port, { stream_idle_timeout_ms: STALL_MS_MAX }),
    });
    this.folder = realpathSync(dirname(this.where.home));
    this.disk =
      library === null
        ? null
        : new FaultyDisk(library, { folder: this.folder, prefix: join(this.where.home, 'heddle') });
  }

  /** Makes a home for the running test. */
  static async create(library: string | null): Promise<Lane> {
    return new Lane(await PlannedModel.start(), library);
  }

  get database(): string {
    return join(this.where.home, 'heddle.db');
  }

  /** The servers that run. */
  get servers(): HeddleProcess[] {
    return [...this.#servers.values()].filter(({ hasEnded }) => !hasEnded);
  }

  /** The servers that ended though nothing ended them. */
  get crashed(): HeddleProcess[] {
    return [...this.#servers.values()].filter(
      (server) => server.hasEnded && !this.#ended.has(server),
    );
  }

  isRunning(number: number): boolean {
    return this.#servers.get(number)?.hasEnded === false;
  }

  /** Resolves with the server of this number, which is started unless it runs. */
  async server(number = 0): Promise<HeddleProcess> {
    const known = this.#servers.get(number);
    if (known?.hasEnded === false) return known;
    const server = new HeddleProcess(this.where, { env: this.disk?.env ?? {} });
    this.#servers.set(number, server);
    server.next('never', (message) => this.#see(message, server)).catch(() => {});
    server.read();
    await within(ANSWER_MS_MAX, 'initialize', server.initialize());
    return server;
  }

  /** States that a server ends because of the test. */
  expectEnd(server: HeddleProcess): void {
    this.#ended.add(server);
  }

  /** Makes a working directory. */
  workspace(): string {
    const cwd = join(this.where.work, `w${++this.#workspaces}`);
    mkdirSync(cwd);
    return cwd;
  }

  removeWorkspace(cwd: string): void {
    rmSync(cwd, { recursive: true, force: true });
  }

  /** Ends everything at once. */
  async close(): Promise<void> {
    for (const server of this.#servers.values()) {
      this.expectEnd(server);
      server.signal('SIGCONT');
      await server.kill();
    }
    await this.model.close();
    this.disk?.close();
  }

  #see(message: Message, from: HeddleProcess): boolean {
    this.ledger.see(message);
    this.onMessage(message, from);
    return false;
  }
}
