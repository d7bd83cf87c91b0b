import { isAbsolute, resolve } from 'node:path';
import type { ImportProgress } from '../../agent/threads/import-rollout.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import type { Caller } from '../requested/method.ts';
import type { ThreadServices } from './thread-services.ts';

/**
 * How long an import may take before the client is told of its progress, and between two of these.
 */
const PROGRESS_MS = 3_000;

/**
 * The stored thread with this path. If there is none, imports the rollout file at the path, and
 * tells the caller of a long import.
 */
export async function threadAt(
  { store, threads, clients, clock }: ThreadServices,
  path: string,
  caller: Caller,
): Promise<ThreadRecord> {
  if (!isAbsolute(path)) throw invalidParams(`params.path: "${path}" is not an absolute path`);
  const file = resolve(path);
  let toldMs = clock.monotonic();
  const onProgress = ({ step, percent }: ImportProgress) => {
    if (clock.monotonic() - toldMs < PROGRESS_MS) return;
    toldMs = clock.monotonic();
    const message = `${file} is being imported: ${percent} % ${step}.`;
    clients.publish({ connection: caller.id }, 'warning', { threadId: null, message });
  };
  return (await store.findThreadByPath(file)) ?? threads.import({ path: file, onProgress });
}
