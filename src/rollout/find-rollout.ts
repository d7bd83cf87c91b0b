import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const DAY_MS = 24 * 60 * 60 * 1000;
const ARCHIVE = 'archived_sessions';

/**
 * The rollout whose name ends in `id`, a UUIDv7, looked for where servers that write rollouts would have put it: beside
 * `nearby`, in the `sessions` folder of its day, in the archive. Null when it is in none of them.
 */
export async function findRollout(id: string, nearby: string): Promise<string | null> {
  for (const folder of new Set(folders(id, nearby))) {
    const name = (await listFolder(folder)).find((entry) => entry.endsWith(`${id}.jsonl`));
    if (name !== undefined) return join(folder, name);
  }
  return null;
}

/** The home that a rollout lies in; null when it lies anywhere else. */
export function homeOfRollout(path: string): string | null {
  const folder = dirname(path);
  if (basename(folder) === ARCHIVE) return dirname(folder);
  const sessions = dirname(dirname(dirname(folder)));
  return basename(sessions) === 'sessions' ? dirname(sessions) : null;
}

function folders(id: string, nearby: string): string[] {
  const home = homeOfRollout(nearby);
  if (home === null) return [dirname(nearby)];
  // Folders are named by the day in a time zone that the file does not tell.
  const days = [0, -1, 1].map((shift) => join(home, 'sessions', ...dayOf(id, shift * DAY_MS)));
  return [dirname(nearby), ...days, join(home, ARCHIVE)];
}

/** The day of the time that a UUIDv7 begins with. */
function dayOf(id: string, shiftMs: number): string[] {
  const ms = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
  return new Date(ms + shiftMs).toISOString().slice(0, 10).split('-');
}

async function listFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    // Not there, or not readable: the file is not to be had from here.
    return [];
  }
}
