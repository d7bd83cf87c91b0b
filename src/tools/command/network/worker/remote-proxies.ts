import type { Log } from '../../../../base/log.ts';
import type { Remote } from '../../../../base/worker/remote.ts';
import { RemoteWorker } from '../../../../base/worker/remote-worker.ts';
import { ProxyRefusal } from '../../../../network/proxy-refusal.ts';
import type {
  CommandListener,
  Listeners,
  ReceivedListener,
} from '../../../../sandbox/listeners.ts';
import type { CommandProxies, OpenProxy, ProxyOptions } from '../../command-proxies.ts';
import { PROXY_ERRORS, type ProxyDecisions, type ServedProxies } from './served-proxies.ts';

/**
 * Beyond this the worker ends, and not the process. The bytes that the proxies pass on do not
 * count.
 */
const HEAP_MB_MAX = 512;
const CALLED = "the worker of commands' proxies";

interface RemoteProxiesOptions {
  /** The script that loads workers. */
  script: string;
  log: Log;
}

interface Opened {
  options: ProxyOptions;
  closed: AbortController;
}

/**
 * The proxies of commands and their listeners, in a worker: whatever a command sends, it does not
 * hold up the main thread, which only decides. The worker starts at the first use, and anew after
 * it has died; then the proxies that were open have ended.
 */
export class RemoteProxies implements CommandProxies, Listeners {
  readonly #worker: RemoteWorker<ServedProxies, ProxyDecisions>;
  readonly #open = new Map<number, Opened>();
  /** Proxies and listeners have numbers that are not used again. */
  #numbers = 0;
  #isClosed = false;

  constructor({ script, log }: RemoteProxiesOptions) {
    this.#worker = new RemoteWorker<ServedProxies, ProxyDecisions>({
      script,
      name: 'proxy.worker',
      called: CALLED,
      heapMbMax: HEAP_MB_MAX,
      knownErrors: PROXY_ERRORS,
      log,
      served: {
        decide: async (proxy, request, gone) => {
          const open = this.#open.get(proxy);
          if (open === undefined) throw new ProxyRefusal('busy', 'The command has ended.');
          return open.options.decide(request, AbortSignal.any([gone, open.closed.signal]));
        },
        notReached: (proxy, target, { code, message }) =>
          this.#open.get(proxy)?.options.notReached(target, new ProxyRefusal(code, message)),
      },
      onDied: (err) => {
        log.error({ err }, `${CALLED} has died; the next command starts another`);
        this.#open.clear();
      },
    });
  }

  async open(options: ProxyOptions): Promise<OpenProxy> {
    const remote = this.#remote;
    const proxy = ++this.#numbers;
    const open = { options, closed: new AbortController() };
    this.#open.set(proxy, open);
    remote.tell('openProxy', proxy, options.socks);
    return {
      serve: proxy,
      close: () => {
        open.closed.abort();
        this.#open.delete(proxy);
        remote.tell('closeProxy', proxy);
      },
    };
  }

  async listen(): Promise<CommandListener & { port: number }> {
    const remote = this.#remote;
    const listener = ++this.#numbers;
    const port = await remote.call('listen', [listener]);
    return { ...listenerOf(remote, listener), port };
  }

  async receive(program: readonly string[], port: number): Promise<ReceivedListener> {
    const remote = this.#remote;
    const listener = ++this.#numbers;
    const pid = await remote.call('receive', [listener, program, port]);
    return {
      ...listenerOf(remote, listener),
      pid,
      endSender: () => remote.tell('endSender', listener),
    };
  }

  /** Ends the worker, and with it all connections. Can be called again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker.close();
  }

  get #remote(): Remote<ServedProxies> {
    if (this.#isClosed) throw new Error('the server is ending');
    return this.#worker.remote;
  }
}

function listenerOf(remote: Remote<ServedProxies>, listener: number): CommandListener {
  return {
    serve: async (server, credential) => {
      if (typeof server === 'function')
        throw new Error('a function serves only connections of its own thread');
      return remote.call('serve', [listener, server, credential]);
    },
    close: () => remote.tell('closeListener', listener),
  };
}
