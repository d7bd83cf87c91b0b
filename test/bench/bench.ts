// Measures the built server, and for comparison a minimal Node program, in alternation. Run it with
// `npm run bench`. `-- --quick` measures less, and `-- --only NAME` only one workload. `-- --only
// growth` measures how costs grow, which takes long; `--large` adds sizes. `-- --only gaps`
// measures how long other requests wait, `--named TEXT` only some of the loads. `-- --only stops`
// measures the way of a turn, and `-- --only listening` a server with many clients.
// docs/performance.md explains the rows.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { arch, cpus, tmpdir, type } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureGaps } from './gaps.ts';
import { growthTables } from './growth.ts';
import { measureListening, ONE_OR_MANY } from './listening.ts';
import { MockModel } from './mock-model.ts';
import { measureStops } from './stops.ts';
import { type Row, table } from './table.ts';
import { type Bench, running, type Subject, type Workload, workloads } from './workloads.ts';

const root = dirname(dirname(import.meta.dirname));
const HEDDLE: Subject = {
  name: 'heddle',
  command: [process.execPath, join(root, 'bin', 'heddle.js')],
  stores: true,
};
const FLOOR: Subject = {
  name: 'bare Node',
  command: [process.execPath, fileURLToPath(new URL('./floor-server.js', import.meta.url))],
  stores: false,
};

const GROWTH = 'growth';
const GAPS = 'gaps';
const STOPS = 'stops';
const LISTENING = 'listening';

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    large: { type: 'boolean', default: false },
    named: { type: 'string' },
  },
});

/** Subjects alternate, and so does their order, so that other load on the machine affects both. */
async function measure(workload: Workload, bench: Bench): Promise<Row[]> {
  const rows = new Map<string, Row>();
  const subjects = [HEDDLE, FLOOR].filter(({ stores }) => stores || !workload.needsStore);
  const repetitions = bench.quick ? workload.repetitions.quick : workload.repetitions.whole;
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const subject of repetition % 2 === 0 ? subjects : subjects.toReversed()) {
      for (const [name, { value, unit }] of Object.entries(await workload.run(subject, bench))) {
        const row = rows.get(name) ?? { name, unit, values: {} };
        rows.set(name, row);
        row.values[subject.name] = [...(row.values[subject.name] ?? []), value];
      }
    }
  }
  return [...rows.values()];
}

/** The table of what is not a workload. Null: a workload is measured. */
async function other(bench: Bench): Promise<string | null> {
  switch (flags.only) {
    case GROWTH:
      return growthTables({ subject: HEDDLE, bench, large: flags.large });
    case GAPS:
      return table(
        await measureGaps({ subject: HEDDLE, bench, named: flags.named ?? '' }),
        ['blocked', 'working'],
        { ratios: false },
      );
    case STOPS:
      return table(await measureStops(HEDDLE, bench), ['time', 'share in %'], { ratios: false });
    case LISTENING:
      return table(await measureListening(HEDDLE, bench), ONE_OR_MANY, { ratios: false });
    default:
      return null;
  }
}

async function bench(): Promise<void> {
  const chosen = workloads.filter(({ name }) => flags.only === undefined || flags.only === name);
  const others = [GAPS, GROWTH, STOPS, LISTENING];
  if (chosen.length === 0 && !others.includes(flags.only ?? '')) {
    throw new Error(
      `--only: expected one of ${[...workloads.map(({ name }) => name), ...others].join(', ')}`,
    );
  }
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'heddle-bench-'));
  const model = await MockModel.listen();
  try {
    const rows: Row[] = [];
    for (const workload of chosen) {
      process.stderr.write(`${workload.name} …\n`);
      rows.push(...(await measure(workload, { folder, model, quick: flags.quick })));
    }
    const measured =
      (await other({ folder, model, quick: flags.quick })) ??
      table(rows, [HEDDLE.name, FLOOR.name]);
    const machine = `${type()} ${arch()}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
    process.stdout.write(`${new Date().toISOString().slice(0, 10)}, ${machine}\n\n${measured}\n`);
  } finally {
    for (const server of running) server.kill();
    model.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

await bench();
