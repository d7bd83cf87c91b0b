import { basename, dirname, join } from 'node:path';
import { listFolder } from '../base/files/list-folder.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const ARCHIVE = 'archived_sessions';
/** A folder contains the rollouts of one day. The archive contains those of all days. */
const ENTRIES_MAX = 1_000_000;

/**
 * Finds the rollout whose name ends in `id`, a UUIDv7, in the folders where servers put rollouts:
 * beside `nearby`, in the `sessions` folder of its day, and in the archive. Returns null if none of
 * them has it.
 */
export async function findRollout(id: string, nearby: string): Promise<string | null> {
  for (const folder of new Set(folders(id, nearby))) {
    const name = (await namesIn(folder)).find((entry) => entry.endsWith(`${id}.jsonl`));
    if (name !== undefined) return join(folder, name);
  }
  return null;
}

/**
 * Returns the home that a rollout belongs to, or null if its folder is not one of a home's folders.
 */
export function homeOfRollout(path: string): string | null {
  const folder = dirname(path);
  if (basename(folder) === ARCHIVE) return dirname(folder);
  const sessions = dirname(dirname(dirname(folder)));
  return basename(sessions) === 'sessions' ? dirname(sessions) : null;
}

function folders(id: string, nearby: string): string[] {
  const home = homeOfRollout(nearby);
  if (home === null) return [dirname(nearby)];
  // Folders are named by the day in a time zone that the file does not record.
  const days = [0, -1, 1].map((shift) => join(home, 'sessions', ...dayOf(id, shift * DAY_MS)));
  return [dirname(nearby), ...days, join(home, ARCHIVE)];
}

/** Year, month and day of the time in a UUIDv7, shifted by `shiftMs`. */
function dayOf(id: string, shiftMs: number): string[] {
  const ms = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
  return new Date(ms + shiftMs).toISOString().slice(0, 10).split('-');
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await listFolder(folder, ENTRIES_MAX)).entries.map(({ name }) => name);
  } catch {
    // The folder is missing or unreadable, so the file is not found there.
    return [];
  }
}
