/** The records that a salvage could not read. */
export interface LostRecords {
  /** Threads that are kept, and how many records of their logs were lost, by id. */
  threads: { threadId: string; records: number }[];
  /** At least so many threads were lost as a whole. */
  wholeThreads: number;
  /** How many unfinished items were lost at least. */
  unfinishedItems: number;
  /** How many entries of queues were lost. */
  queued: number;
  /** Whether nothing at all could be read. */
  everything: boolean;
}

/** A salvaged database. */
export interface Salvage {
  /** The threads in the new database. */
  threads: number;
  losses: LostRecords;
}

/** The outcome of a repair: where the damaged file is, and what the new one has. */
export interface Repair extends Salvage {
  /** Null if there was no file. */
  setAside: string | null;
}

/** Whether all threads were salvaged with all of their records. */
function isWhole({
  losses: { threads, wholeThreads, unfinishedItems, queued, everything },
}: Salvage): boolean {
  return !everything && threads.length === 0 && wholeThreads + unfinishedItems + queued === 0;
}

/** One sentence about what was lost. */
function describeLosses(salvage: Salvage): string {
  const { threads, wholeThreads, unfinishedItems, queued, everything } = salvage.losses;
  if (everything) return 'Nothing of it could be read.';
  if (isWhole(salvage)) return 'No data was lost.';
  const records = threads.reduce((sum, thread) => sum + thread.records, 0);
  const parts = [
    ...(wholeThreads > 0 ? [`at least ${count(wholeThreads, 'thread')}`] : []),
    ...(threads.length > 0
      ? [`${count(records, 'record')} of ${count(threads.length, 'thread')}`]
      : []),
    ...(unfinishedItems > 0 ? [`at least ${count(unfinishedItems, 'unfinished item')}`] : []),
    ...(queued > 0 ? [count(queued, 'message in a queue', 'messages in queues')] : []),
  ];
  return `Lost: ${parts.join(', ')}.`;
}

/** Describes a repair in sentences. */
export function describeRepair(repair: Repair): string {
  const kept = repair.setAside === null ? '' : ` The damaged file is kept as ${repair.setAside}.`;
  return `${count(repair.threads, 'thread')} could be read. ${describeLosses(repair)}${kept}`;
}

function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}
