import { resolve } from 'node:path';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import type { Client } from '../../client/client.ts';
import type { Thread, ThreadStartParams } from '../../protocol/generated/types.ts';
import { OptionError } from '../command-line/option-error.ts';
import type { ExecOptions } from './exec-options.ts';

/** The folder of the turn. */
export interface Folder {
  /** An absolute path. */
  path: string;
  /** Whether the command line names it: a thread that goes on keeps its own folder otherwise. */
  isGiven: boolean;
}

export interface OpenedThread {
  thread: Thread;
  model: string;
  cwd: string;
}

/**
 * Starts a thread, or continues the one that the options name. Rejects with an OptionError if
 * `--last` finds none.
 */
export async function openThread(
  client: Client,
  { resume, ephemeral, settings }: ExecOptions,
  folder: Folder,
): Promise<OpenedThread> {
  const params = settings as Pick<
    ThreadStartParams,
    'model' | 'modelProvider' | 'sandbox' | 'approvalPolicy'
  >;
  if (resume === null)
    return client.request('thread/start', {
      ...params,
      cwd: folder.path,
      ...(ephemeral ? { ephemeral } : {}),
    });
  const cwd = folder.isGiven ? { cwd: folder.path } : {};
  const named = resume === 'last' ? { threadId: await lastThread(client, folder.path) } : resume;
  const thread = 'file' in named ? { threadId: '', path: resolve(named.file) } : named;
  return client.request('thread/resume', { ...params, ...cwd, ...thread, excludeTurns: true });
}

/**
 * The thread of this folder that was used last, whichever client started it. Threads of agents do
 * not count.
 */
async function lastThread(client: Client, cwd: string): Promise<string> {
  const { data } = await client.request('thread/list', {
    cwd: [...new Set([cwd, realPathOrSame(cwd)])],
    limit: 1,
    sortKey: 'updated_at',
    modelProviders: [],
    sourceKinds: ['cli', 'vscode', 'exec', 'appServer'],
  });
  const [thread] = data;
  if (thread === undefined)
    throw new OptionError(
      `--last: there is no thread of the folder ${cwd} yet: start one without --last`,
    );
  return thread.id;
}
