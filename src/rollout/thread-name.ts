import { join } from 'node:path';
import { Fields } from './fields.ts';
import { homeOfRollout } from './find-rollout.ts';
import { readLines } from './read-lines.ts';

/**
 * Reads a thread's name from the index of the home, because its rollout does not have it. Returns
 * null if there is none.
 */
export async function threadName(id: string, rolloutPath: string): Promise<string | null> {
  const home = homeOfRollout(rolloutPath);
  if (home === null) return null;
  let name: string | null = null;
  try {
    for await (const line of readLines(join(home, 'session_index.jsonl'))) {
      // Names are appended: the last one counts.
      if (line?.includes(id)) name = nameIn(line, id) ?? name;
    }
  } catch {
    // Without a readable index the thread has no name.
    return null;
  }
  return name;
}

function nameIn(line: string, id: string): string | null {
  try {
    const entry = new Fields(JSON.parse(line));
    return entry.text('id') === id ? entry.text('thread_name') : null;
  } catch {
    // The line is incomplete.
    return null;
  }
}
