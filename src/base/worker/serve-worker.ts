import {
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from 'node:worker_threads';
import { monotonicMs } from '../clock.ts';
import { Peer, type PeerMessage, type PeerOptions } from './peer.ts';
import type { MainThread } from './remote.ts';

/** After this time, messages that come wait for the next round of the event loop. */
const ROUND_MS_MAX = 8;

/**
 * Serves an object in a worker: its script calls this. `make` gets the data that the worker was
 * started with.
 */
export function serveWorker<Main, Data = null>(
  make: (main: MainThread<Main>, data: Data) => object,
  options: Pick<PeerOptions, 'knownErrors' | 'joins'> = {},
): void {
  const port = parentPort;
  if (port === null) throw new Error('this script is for a worker');
  const peer = new Peer<Main, object>({
    ...options,
    post: (messages) => port.postMessage(messages),
  });
  peer.serve(make(peer, workerData as Data));
  onMessages(port, (messages) => peer.receive(messages));
}

/** Takes all messages that wait in one moment, so that work that comes with them can be joined. */
function onMessages(port: MessagePort, receive: (messages: readonly PeerMessage[]) => void): void {
  const received: PeerMessage[] = [];
  let roundSinceMs: number | null = null;
  // A caller that makes its next call at once would be answered for ever in one round of the event
  // loop, and what is put off never.
  const takeReceived = () => {
    if (roundSinceMs === null) {
      roundSinceMs = monotonicMs();
      setImmediate(() => {
        roundSinceMs = null;
        if (received.length > 0) takeReceived();
      });
    }
    if (monotonicMs() - roundSinceMs <= ROUND_MS_MAX) receive(received.splice(0));
  };
  port.on('message', (first: PeerMessage[]) => {
    received.push(...first);
    for (
      let next = receiveMessageOnPort(port);
      next !== undefined;
      next = receiveMessageOnPort(port)
    )
      received.push(...(next.message as PeerMessage[]));
    takeReceived();
  });
}
