// @module-tag slow
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempFolder } from '../../config/temp-folder.ts';
import { HelperShell } from './helper-shell.ts';
import type { HostileServer } from './hostile-server.ts';
import { MEASURED_TIMES_MAX } from './hostile-server.ts';
import { hostileWorkspace, LAYOUTS } from './hostile-workspace.ts';
import { type Finding, GROWTH_MB_MAX, runWorkspace, WORKED_MS_MAX } from './run-workspace.ts';
import { startedServer } from './started-server.ts';
import { type RunSupplies, startSupplies } from './supplies.ts';

/** These need about 110 s on two processors. By default only the first of them run. */
const ALL = 1000;
/**
 * The number of workspaces, and the seed of the first one: `HEDDLE_HOSTILE_WORKSPACES=1
 * HEDDLE_HOSTILE_SEED=17` repeats one.
 */
const COUNT = Number(process.env.HEDDLE_HOSTILE_WORKSPACES ?? 400);
const FIRST_SEED = Number(process.env.HEDDLE_HOSTILE_SEED ?? 1);
/**
 * The run ends after this number of workspaces with findings, because each may take many seconds.
 */
const FAILED_MAX = Number(process.env.HEDDLE_HOSTILE_FAILED_MAX ?? 20);
/** The findings are written to this file as JSON. */
const REPORT = process.env.HEDDLE_HOSTILE_REPORT;
const SERVERS = 4;

interface Failure {
  seed: number;
  layouts: string[];
  calls: string[];
  findings: Finding[];
}

/** The remaining seeds and the findings. All servers of the run share them. */
class Workspaces {
  readonly failures: Failure[] = [];
  readonly layouts = new Set<string>();
  readonly growth: number[] = [];
  longestMs = 0;
  readonly #folder = tempFolder();
  readonly #supplies: RunSupplies;
  readonly #shell = new HelperShell();
  #next = FIRST_SEED;

  constructor(supplies: RunSupplies) {
    this.#supplies = supplies;
    onTestFinished(() => this.#shell.end());
  }

  /** Runs workspaces until none is left. Starts a new server if one has ended. */
  async runAll(): Promise<void> {
    let server = await startedServer();
    let heapBytes = (await server.load({ collect: true })).heapBytes;
    while (this.#next < FIRST_SEED + COUNT && this.failures.length < FAILED_MAX) {
      if (server.heddle.hasEnded) {
        server = await startedServer();
        heapBytes = (await server.load({ collect: true })).heapBytes;
      }
      await this.#runSeed(server, this.#next++);
    }
    if (server.heddle.hasEnded) return;
    this.growth.push(((await server.load({ collect: true })).heapBytes - heapBytes) / 1e6);
    await server.kill();
  }

  async #runSeed(server: HostileServer, seed: number): Promise<void> {
    for (let times = 1; ; times++) {
      const base = join(this.#folder, `s${seed}-${times}`);
      mkdirSync(base);
      const workspace = hostileWorkspace(seed, {
        base,
        home: server.home,
        supplies: this.#supplies,
      });
      const { findings, workedMs } = await runWorkspace(server, workspace, this.#shell);
      const again =
        findings.length > 0 && findings.every(({ kind }) => kind === 'slow' || kind === 'grew');
      if (again && times < MEASURED_TIMES_MAX) continue;
      const { layouts } = workspace.world;
      for (const layout of layouts) this.layouts.add(layout);
      if (findings.length === 0) this.longestMs = Math.max(this.longestMs, workedMs);
      else
        this.failures.push({
          seed,
          layouts,
          calls: workspace.turns.flat().map(({ name }) => name),
          findings,
        });
      return;
    }
  }
}

function failureText({ seed, layouts, calls, findings }: Failure): string {
  return `seed ${seed} (${layouts.join(', ')}; ${calls.join(', ')}): ${findings.map(({ kind, text }) => `${kind}: ${text}`).join('\n  ')}`;
}

test(`${COUNT} hostile workspaces: nothing outside changes, no server is blocked or grows, and refusals name the place`, {
  timeout: 1_800_000,
}, async () => {
  const supplies = await startSupplies(join(tempFolder(), 'supplies'));
  const workspaces = new Workspaces(supplies);
  await Promise.all(Array.from({ length: Math.min(SERVERS, COUNT) }, () => workspaces.runAll()));
  const { failures, growth, longestMs, layouts } = workspaces;
  const received = supplies.received();
  if (REPORT !== undefined)
    writeFileSync(REPORT, JSON.stringify({ failures, received, growth, longestMs }, null, 1));
  expect({ failures: failures.map(failureText), received }).toEqual({ failures: [], received: [] });
  expect(growth.filter((mb) => mb > GROWTH_MB_MAX)).toEqual([]);
  expect(longestMs).toBeLessThanOrEqual(WORKED_MS_MAX);
  if (COUNT >= ALL)
    expect(LAYOUTS.map(({ name }) => name).filter((name) => !layouts.has(name))).toEqual([]);
});
