// Measures the built server, and for comparison a minimal Node program, in alternation. Run it with
// `npm run bench`. `-- --quick` measures less, and `-- --only NAME` only one workload. `-- --only
// growth` measures how costs grow, which takes long; `--large` adds sizes. `-- --only gaps`
// measures how long other requests wait, `--named TEXT` only some of the loads. `-- --only stops`
// measures the way of a turn. docs/performance.md explains the rows.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { arch, cpus, tmpdir, type } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureGaps } from './gaps.ts';
import { growthTables } from './growth.ts';
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

async function bench(): Promise<void> {
  const chosen = workloads.filter(({ name }) => flags.only === undefined || flags.only === name);
  const others = [GAPS, GROWTH, STOPS];
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
    const growth =
      flags.only === GROWTH
        ? await growthTables({
            subject: HEDDLE,
            bench: { folder, model, quick: flags.quick },
            large: flags.large,
          })
        : null;
    const gaps =
      flags.only === GAPS
        ? await measureGaps({
            subject: HEDDLE,
            bench: { folder, model, quick: flags.quick },
            named: flags.named ?? '',
          })
        : null;
    const stops =
      flags.only === STOPS
        ? await measureStops(HEDDLE, { folder, model, quick: flags.quick })
        : null;
    const measured =
      stops !== null
        ? table(stops, ['time', 'share in %'], { ratios: false })
        : gaps === null
          ? table(rows, [HEDDLE.name, FLOOR.name])
          : table(gaps, ['blocked', 'working'], { ratios: false });
    const machine = `${type()} ${arch()}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
    process.stdout.write(
      `${new Date().toISOString().slice(0, 10)}, ${machine}\n\n${growth ?? measured}\n`,
    );
  } finally {
    for (const server of running) server.kill();
    model.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

await bench();
