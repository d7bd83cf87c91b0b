import { showText } from '../../base/text/show-text.ts';
import type { Client } from '../../client/client.ts';
import { UsageError } from '../command-line/usage-error.ts';
import type { Terminal } from '../terminal/terminal-at.ts';
import { titleOf } from './list-threads.ts';

/**
 * Deletes a thread and its history, when a person has agreed. Returns false if the person has not.
 * Throws a UsageError if nobody can be asked.
 */
export async function deleteThread(
  client: Client,
  { threadId, yes }: { threadId: string; yes: boolean },
  { print, confirm }: Terminal,
): Promise<boolean> {
  const { thread } = await client.request('thread/read', { threadId });
  const shown = `${threadId} (${showText(titleOf(thread).replace(/\s+/g, ' '))})`;
  if (!yes) {
    if (confirm === null)
      throw new UsageError(
        'threads delete: nobody can answer, because the input is not a terminal: use --yes',
      );
    if (!(await confirm(`Delete the thread ${shown} with its history? [y/N] `))) return false;
  }
  await client.request('thread/delete', { threadId });
  print(`Deleted ${shown}.\n`);
  return true;
}
