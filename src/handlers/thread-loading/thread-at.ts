import { isAbsolute, resolve } from 'node:path';
import { invalidParams } from '../../protocol/rpc-error.ts';
import type { ThreadRecord } from '../../store/thread-store.ts';
import type { ThreadDeps } from '../thread-deps.ts';

/** The stored thread with this path. If there is none, imports the rollout file at the path. */
export async function threadAt({ store, threads }: ThreadDeps, path: string): Promise<ThreadRecord> {
  if (!isAbsolute(path)) throw invalidParams(`params.path: "${path}" is not an absolute path`);
  const file = resolve(path);
  return (await store.findThreadByPath(file)) ?? threads.import(file);
}
