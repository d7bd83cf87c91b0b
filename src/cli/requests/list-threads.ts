import type { Client } from '../../client/client.ts';
import type { Thread, ThreadSourceKind } from '../../protocol/generated/types.ts';
import type { Terminal } from '../terminal/terminal-at.ts';
import { allPages, collected } from './all-pages.ts';
import { type Column, table } from './table.ts';

const PAGE = 100;
/** All but agents, which belong to the thread that has started them. */
const SOURCES: ThreadSourceKind[] = ['cli', 'vscode', 'exec', 'appServer', 'unknown'];
const TITLE_CHARS_MAX = 100;
/** Other commands take the whole id. */
const COLUMNS: Column[] = [
  { title: 'ID' },
  { title: 'LAST USED' },
  { title: 'FOLDER', keeps: 'end' },
  { title: 'TITLE', keeps: 'start' },
];

interface Listing {
  json: boolean;
  /** Words of the name or the preview. Null: all threads. */
  searchTerm: string | null;
  userHome: string | null;
}

/**
 * Prints the threads that are not archived, of all providers, the newest first; with a search term,
 * those whose name or preview has it.
 */
export async function listThreads(
  client: Client,
  { json, searchTerm, userHome }: Listing,
  terminal: Terminal,
): Promise<boolean> {
  const { print, columns } = terminal;
  const ask = (cursor: string | null) =>
    client.request('thread/list', {
      cursor,
      limit: PAGE,
      modelProviders: [],
      sourceKinds: SOURCES,
      searchTerm,
    });
  const threads = await collected(allPages(ask));
  if (json) print(`${JSON.stringify({ data: threads })}\n`);
  else if (threads.length === 0)
    print(
      searchTerm === null
        ? 'There are no threads.\n'
        : 'No name or preview of a thread has these words.\n',
    );
  else {
    const rows = threads.map((thread) => [
      thread.id,
      dateOf(thread),
      shortFolder(thread.cwd, userHome),
      titleOf(thread),
    ]);
    print(table(COLUMNS, rows, columns));
  }
  return searchTerm === null || threads.length > 0;
}

/** The name of a thread, or the beginning of its first message. */
export function titleOf({ name, preview }: Thread): string {
  return (name ?? preview).slice(0, TITLE_CHARS_MAX);
}

function dateOf({ updatedAt }: Thread): string {
  const date = new Date(updatedAt * 1000);
  const two = (number: number) => String(number).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

function shortFolder(folder: string, userHome: string | null): string {
  return userHome !== null && (folder === userHome || folder.startsWith(`${userHome}/`))
    ? `~${folder.slice(userHome.length)}`
    : folder;
}
