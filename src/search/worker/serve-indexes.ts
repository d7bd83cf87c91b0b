import type { MessagePort } from 'node:worker_threads';
import type { IndexCall, IndexReply } from './index-call.ts';
import { LocalPathIndex } from './path-index.ts';

/** Keeps path indexes, and performs the calls that come through the port. */
export function serveIndexes(port: MessagePort): void {
  const indexes = new Map<number, LocalPathIndex>();
  const rank = async (index: number, id: number, query: string) => {
    const matches = (await indexes.get(index)?.rank(query)) ?? null;
    port.postMessage({ id, matches } satisfies IndexReply);
  };
  port.on('message', (call: IndexCall) => {
    switch (call.type) {
      case 'open':
        indexes.set(call.index, new LocalPathIndex(call.roots));
        return;
      case 'add':
        indexes.get(call.index)?.add(call.root, call.bytes);
        return;
      case 'rank':
        void rank(call.index, call.id, call.query);
        return;
      case 'close':
        indexes.get(call.index)?.close();
        indexes.delete(call.index);
        return;
      default:
        return call satisfies never;
    }
  });
}
