import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { expect, vi } from 'vitest';
import { memorySlowness } from '../../support/memory-slowness.ts';
import { type HeddleProcess, place, startHeddle } from '../support.ts';

/** Work that is shorter than this breaks no bound, so it is not asked how slow the memory is. */
const SHORT_MS = 15;
/**
 * Other programs on the machine disturb the times, so what was too slow is measured again, so often
 * at most. The least counts.
 */
export const MEASURED_TIMES_MAX = 10;
const PROBE = pathToFileURL(join(import.meta.dirname, 'loop-probe.js')).href;

/** The report of the probe in the server. */
export interface Load {
  /**
   * The longest time for which the main loop worked without a pause, since the last report, as a
   * usual machine would have taken.
   */
  workedMs: number;
  /** The longest time for which it slept in a call of the system. */
  sleptMs: number;
  /**
   * The longest time for which it did not answer: it worked, slept in a call, or waited for the
   * system to start a program.
   */
  blockedMs: number;
  /** How much longer known work took than on a usual machine. At least 1. */
  slowness: number;
  /** The server's heap, and the memory outside it that the heap holds. */
  heapBytes: number;
}

/** A server in its own process, with a probe that measures how long its main loop is blocked. */
export class HostileServer {
  readonly heddle: HeddleProcess;
  readonly home: string;
  readonly #probe: Socket;
  readonly #reports: Interface;

  private constructor(heddle: HeddleProcess, { home, probe }: { home: string; probe: Socket }) {
    this.heddle = heddle;
    this.home = home;
    this.#probe = probe;
    this.#reports = createInterface(probe);
  }

  /**
   * Starts a server for the running test. `files` are put into its home, by their paths.
   * `nodeOptions`: further options of Node.
   */
  static async start(files: Record<string, string> = {}, nodeOptions = ''): Promise<HostileServer> {
    const where = place({
      'config.toml': '# canary\n',
      'AGENTS.md': 'canary\n',
      'rules/default.rules': '# canary\n',
      ...files,
    });
    const path = join(dirname(where.home), 'probe.sock');
    const env = { NODE_OPTIONS: `--import=${PROBE} ${nodeOptions}`, HEDDLE_PROBE: path };
    const heddle = await startHeddle(where, { env, errorsLogged: true });
    const probe = connect(path);
    probe.on('error', () => {});
    await once(probe, 'connect');
    return new HostileServer(heddle, { home: where.home, probe });
  }

  /**
   * The load since the last call. `collect` frees all memory that is not in use, which takes
   * longer.
   */
  async load({ collect = false } = {}): Promise<Load> {
    const line = once(this.#reports, 'line');
    this.#probe.write(collect ? 'collect\n' : 'report\n');
    const [text] = (await line) as [string];
    const load = JSON.parse(text) as Load;
    if (load.workedMs <= SHORT_MS) return load;
    const slowness = Math.max(load.slowness, memorySlowness());
    return { ...load, slowness, workedMs: (load.workedMs * load.slowness) / slowness };
  }

  /**
   * Runs the work, again if the main loop worked longer than `msMax` without a pause meanwhile, and
   * fails if it always did.
   */
  async unblocked<T>(msMax: number, work: () => Promise<T>): Promise<T> {
    for (let times = 1; ; times++) {
      await this.load();
      const result = await work();
      const { workedMs } = await this.load();
      if (workedMs <= msMax) return result;
      if (times === MEASURED_TIMES_MAX)
        expect(workedMs, 'the longest work of the main loop in ms').toBeLessThanOrEqual(msMax);
    }
  }

  /** Makes `growthMb` measure from now. */
  restartGrowth(): number {
    writeFileSync(`/proc/${this.heddle.pid}/clear_refs`, '5');
    return this.heddle.memory().now;
  }

  /** The most memory since `restartGrowth`, which returned `before`, in MB. */
  growthMb(before: number): number {
    return this.heddle.memory().peak - before;
  }

  async kill(): Promise<void> {
    this.#probe.destroy();
    await this.heddle.kill();
  }

  /** Resolves when all other processes that the server has started have ended. */
  async onlyChildren(expected: readonly string[]): Promise<string[]> {
    const others = () => this.heddle.children().filter((pid) => !expected.includes(pid));
    await vi
      .waitUntil(() => others().length === 0, { timeout: 5_000, interval: 5 })
      .catch(() => {});
    return others();
  }
}
