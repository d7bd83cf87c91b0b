import { join } from 'node:path';
import { Fields } from './fields.ts';
import { homeOfRollout } from './find-rollout.ts';
import { readLines } from './read-lines.ts';

/** The name that a thread was given: it does not stand in its rollout, but in an index of the home. Null without one. */
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
    // No index, or one that cannot be read: the thread keeps what is known of it, and has no name.
    return null;
  }
  return name;
}

function nameIn(line: string, id: string): string | null {
  try {
    const entry = new Fields(JSON.parse(line));
    return entry.text('id') === id ? entry.text('thread_name') : null;
  } catch {
    // A line that is cut short.
    return null;
  }
}
