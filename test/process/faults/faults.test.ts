// @module-tag slow
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { HelperShell } from '../hostile/helper-shell.ts';
import { diskFaults } from './disk-faults.ts';
import type { FaultKind, FaultTools } from './fault-kind.ts';
import { faultTable, type KindResult, kindStories } from './fault-table.ts';
import { compileFaultyDisk } from './faulty-disk.ts';
import { fileFaults } from './file-faults.ts';
import { Lane } from './lane.ts';
import { makeDatabase } from './make-database.ts';
import { processFaults } from './process-faults.ts';
import { runWorld } from './run-world.ts';

/** How many faults in all; `npm run test:faults` makes 10,000. */
const COUNT = Number(process.env.HEDDLE_FAULTS_COUNT ?? 200);
/**
 * The first seed of each kind: `HEDDLE_FAULTS_KINDS=kill HEDDLE_FAULTS_SEED=17
 * HEDDLE_FAULTS_COUNT=1` repeats one.
 */
const FIRST_SEED = Number(process.env.HEDDLE_FAULTS_SEED ?? 1);
/** The names of the kinds, with commas. */
const { HEDDLE_FAULTS_KINDS: CHOSEN, HEDDLE_FAULTS_REPORT: REPORT } = process.env;
/** After so many seeds with findings a kind ends: each may take many seconds. */
const FAILED_MAX = Number(process.env.HEDDLE_FAULTS_FAILED_MAX ?? 10);
const LANES = 4;
/** A lane's database and its server are made anew after so many worlds. */
const WORLDS_A_LANE = 50;

const ALL: FaultKind[] = [...processFaults, ...diskFaults, ...fileFaults];
const unknown = (CHOSEN ?? '')
  .split(',')
  .filter((name) => name !== '' && !ALL.some((kind) => kind.name === name));
if (unknown.length > 0)
  throw new Error(
    `HEDDLE_FAULTS_KINDS: expected some of ${ALL.map(({ name }) => name)}, found ${unknown}`,
  );
const kinds = ALL.filter(({ name }) => CHOSEN === undefined || CHOSEN.split(',').includes(name));
const weights = kinds.reduce((sum, { weight }) => sum + weight, 0);
const results: KindResult[] = [];

/** The seeds of one kind. All lanes share it. */
class Seeds {
  readonly result: KindResult;
  readonly #kind: FaultKind;
  readonly #count: number;
  #next = FIRST_SEED;

  constructor(kind: FaultKind, count: number) {
    this.#kind = kind;
    this.#count = count;
    this.result = { kind: kind.name, worlds: 0, ms: 0, failures: [] };
  }

  async runAll(): Promise<void> {
    let lane: Lane | null = null;
    for (
      let worlds = 1;
      this.#next < FIRST_SEED + this.#count && this.result.failures.length < FAILED_MAX;
      worlds++
    ) {
      const seed = this.#next++;
      lane ??= await Lane.create(library);
      const { findings, story, ms } = await runWorld(this.#kind, seed, lane, tools);
      this.result.worlds++;
      this.result.ms += ms;
      if (findings.length > 0) this.result.failures.push({ seed, story, findings });
      if (findings.length === 0 && worlds % WORLDS_A_LANE !== 0) continue;
      await lane.close();
      lane = null;
    }
    await lane?.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'heddle-faults-'));
const shell = new HelperShell();
const compiled = compileFaultyDisk(folder);
const library = 'library' in compiled ? compiled.library : null;
const tools: FaultTools = { shell, otherDatabase: makeDatabase(folder) };

/** Why faults of a kind cannot be made here; null: they can. */
async function missing({ needs }: FaultKind): Promise<string | null> {
  if (needs === 'library' && 'missing' in compiled) return compiled.missing;
  if (needs === 'prlimit' && (await shell.run('command -v prlimit')).join('') === '')
    return 'there is no program prlimit';
  return null;
}

test.each(kinds)(
  '$name: nothing announced is lost or doubled, every turn has one end, and the server works again',
  {
    timeout: 3_600_000,
  },
  async (kind) => {
    const reason = await missing(kind);
    if (reason !== null) {
      process.stderr.write(`SKIPPED: faults of the kind ${kind.name}: ${reason}\n`);
      return;
    }
    const count = Math.max(1, Math.round((COUNT * kind.weight) / weights));
    const seeds = new Seeds(kind, count);
    await Promise.all(Array.from({ length: Math.min(LANES, count) }, () => seeds.runAll()));
    results.push(seeds.result);
    process.stdout.write(kindStories(seeds.result));
    expect(seeds.result.failures.map(({ seed, findings }) => ({ seed, findings }))).toEqual([]);
  },
);

afterAll(() => {
  process.stdout.write(`${faultTable(results)}\n`);
  shell.end();
  rmSync(folder, { recursive: true });
  if (REPORT !== undefined) writeFileSync(REPORT, JSON.stringify(results, null, 1));
});
