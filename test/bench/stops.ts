import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { sum } from '../support/sum.ts';
import { median, type Row } from './table.ts';
import { type Bench, newHome, PROMPT, type Subject, startServer, stop } from './workloads.ts';

const PROBE = pathToFileURL(join(import.meta.dirname, 'stop-probe.js')).href;
const RUNS = { whole: 5, quick: 2 };
const TURNS = 100;
/** Of so many turns the fastest counts, so that other work of the machine counts less. */
const FASTEST = 5;
/** V8 has compiled the way of a turn by then. */
const TURNS_BEFORE = 30;
/** The probe has written its notes by then. */
const WRITTEN_MS = 500;

/** The stops of a turn in their order, by the way to each. */
const STOPS = {
  'to the server': 'request read',
  'read, checked, the start prepared': 'start posted',
  "to the store's worker": 'start received',
  'the start stored': 'start answered',
  'back to the main thread': 'start stored',
  'the request answered': 'answer written',
  'tools, prompt and body prepared': 'model asked',
  'the model': 'model answered',
  'the response read, the end prepared': 'end posted',
  "to the store's worker again": 'end received',
  'the end stored': 'flush begun',
  'the end flushed to the disk': 'flushed',
  'back to the main thread again': 'end stored',
  'the end announced': 'completed written',
  'to the client': 'completed read',
};

/** A turn as its client saw it: when it wrote the request, and when it read the end. */
interface SeenTurn {
  fromMs: number;
  toMs: number;
}

/** What the probe has noted, and when, in milliseconds of the system's monotonic clock. */
interface Note {
  atMs: number;
  what: string;
}

/** Measures how long a later turn takes from each stop to the next. */
export async function measureStops(subject: Subject, bench: Bench): Promise<Row[]> {
  const ways = Object.keys(STOPS);
  const rows = [...ways, 'the turn'].map((name) => ({
    name,
    unit: 'ms',
    values: { time: [] as number[], 'share in %': [] as number[] },
  }));
  for (let run = 0; run < (bench.quick ? RUNS.quick : RUNS.whole); run++) {
    const all = await timesOfTurns(subject, bench);
    const turns = all.toSorted((one, other) => sum(one) - sum(other)).slice(0, TURNS / FASTEST);
    const whole = median(turns.map(sum));
    for (const [index, { values }] of rows.entries()) {
      const time = index < ways.length ? median(turns.map((times) => times[index] ?? 0)) : whole;
      values.time.push(time);
      values['share in %'].push((100 * time) / whole);
    }
  }
  return rows;
}

/** For each turn, how long it took to each stop from the one before it. */
async function timesOfTurns(subject: Subject, bench: Bench): Promise<number[][]> {
  const home = newHome(bench);
  const file = join(home, 'stops');
  const server = startServer(subject, home, bench, {
    NODE_OPTIONS: `--import=${PROBE}`,
    HEDDLE_STOPS: file,
  });
  await server.initialize();
  const threadId = await server.startThread(bench.folder);
  const turns: SeenTurn[] = [];
  for (let turn = 0; turn < TURNS_BEFORE + TURNS; turn++) {
    const fromMs = Number(process.hrtime.bigint()) / 1e6;
    turns.push({ fromMs, toMs: fromMs + (await server.turn(threadId, PROMPT)) });
  }
  await sleep(WRITTEN_MS);
  await stop(server);
  const notes = readNotes(file);
  return turns.slice(TURNS_BEFORE).map((turn, index) => {
    const next = turns[TURNS_BEFORE + index + 1];
    return timesOf(
      turn,
      notes.filter(({ atMs }) => atMs > turn.fromMs && !(atMs > (next?.fromMs ?? atMs))),
    );
  });
}

function readNotes(file: string): Note[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const space = line.indexOf(' ');
    return { atMs: Number(line.slice(0, space)) / 1e6, what: line.slice(space + 1) };
  });
}

/** `notes`: those from the turn's request to the next one. */
function timesOf({ fromMs, toMs }: SeenTurn, notes: readonly Note[]): number[] {
  let beforeMs = fromMs;
  return Object.values(STOPS).map((stopName) => {
    // A busy machine may stop the client between two readings of the time.
    const found =
      stopName === 'completed read'
        ? Math.max(toMs, beforeMs)
        : notes.find(({ what }) => what === stopName)?.atMs;
    if (found === undefined) throw new Error(`no turn passed the stop "${stopName}"`);
    const ms = found - beforeMs;
    beforeMs = found;
    return ms;
  });
}
