import type { Env } from '../base/env.ts';
import { startWorker } from '../base/worker/start-worker.ts';
import type { FromHost, HostPort, ToHost } from './messages/to-host.ts';

/** A host that needs more memory than this ends, and not the process. */
const HEAP_MB_MAX = 1024;

export interface HostPortOptions {
  /** The built script of the host's thread. Null: the host runs in this thread. */
  script: string | null;
  /** Has the proxies and certificates for servers that are reached by HTTP. */
  env: Env;
}

interface HostPortEvents {
  onMessage(message: FromHost): void;
  /** The thread has died. Not called after `close`. */
  onDied(reason: unknown): void;
}

/** Starts the host, in a thread of its own if there is a script for it. */
export function createHostPort(options: HostPortOptions, events: HostPortEvents): HostPort {
  return options.script === null
    ? localPort(options.env, events)
    : workerPort(options.script, options.env, events);
}

function workerPort(script: string, env: Env, { onMessage, onDied }: HostPortEvents): HostPort {
  let isClosed = false;
  const worker = startWorker<FromHost>({
    script,
    heapMbMax: HEAP_MB_MAX,
    data: { ...env },
    onMessage,
    onEnd: (reason) => {
      if (!isClosed) onDied(reason);
    },
  });
  return {
    post: (message) => worker.postMessage(message),
    keepAlive: (alive) => (alive ? worker.ref() : worker.unref()),
    async close() {
      isClosed = true;
      await worker.terminate();
    },
  };
}

/** Messages wait until the host's code is loaded. */
function localPort(env: Env, { onMessage, onDied }: HostPortEvents): HostPort {
  let isClosed = false;
  const waiting: ToHost[] = [];
  let receive = (message: ToHost): void => void waiting.push(message);
  const load = async () => {
    try {
      const { createMcpHost } = await import('./host/create-mcp-host.ts');
      const host = createMcpHost((message) => {
        if (!isClosed) onMessage(message);
      }, env);
      receive = (message) => host.receive(message);
      for (const message of waiting.splice(0)) receive(message);
    } catch (error) {
      if (!isClosed) onDied(error);
    }
  };
  void load();
  return {
    post: (message) => receive(message),
    keepAlive: () => {},
    async close() {
      isClosed = true;
    },
  };
}
