import type { Worker } from 'node:worker_threads';
import type { Log } from '../../../../base/log.ts';
import { startWorker } from '../../../../base/worker/start-worker.ts';
import type { ProxyRequest } from '../../../../network/command-proxy.ts';
import { ProxyRefusal } from '../../../../network/proxy-refusal.ts';
import type {
  CommandListener,
  Listeners,
  ReceivedListener,
} from '../../../../sandbox/listeners.ts';
import type { CommandProxies, OpenProxy, ProxyOptions } from '../../command-proxies.ts';
import type { AnsweredCall, DecisionData, ProxyCall, ProxyReply } from './proxy-call.ts';

/**
 * Beyond this the thread ends, and not the process. The bytes that the proxies pass on do not
 * count.
 */
const HEAP_MB_MAX = 512;

interface ProxyThreadOptions {
  /** The built script of the thread. */
  script: string;
  log: Log;
}

interface Waiting {
  resolve(value: number): void;
  reject(error: Error): void;
}

interface Opened {
  options: ProxyOptions;
  /** The questions that are not decided, by their numbers. */
  deciding: Map<number, AbortController>;
}

/**
 * The proxies of commands and their listeners, in a thread of their own: whatever a command sends,
 * it does not hold up this thread, which only decides. The thread starts at the first use, and anew
 * after it has died; then the proxies that were open have ended. It keeps the process alive only
 * while a listener is made or changed.
 */
export class ProxyThread implements CommandProxies, Listeners {
  readonly #options: ProxyThreadOptions;
  readonly #proxies = new Map<number, Opened>();
  readonly #calls = new Map<number, Waiting>();
  #worker: Worker | null = null;
  /** Proxies, listeners and calls have numbers that are not used again. */
  #numbers = 0;
  #isClosed = false;

  constructor(options: ProxyThreadOptions) {
    this.#options = options;
  }

  async open(options: ProxyOptions): Promise<OpenProxy> {
    const proxy = ++this.#numbers;
    const opened: Opened = { options, deciding: new Map() };
    this.#proxies.set(proxy, opened);
    this.#started().postMessage({
      type: 'openProxy',
      proxy,
      socks: options.socks,
    } satisfies ProxyCall);
    return {
      serve: proxy,
      close: () => {
        giveUp(opened);
        if (this.#proxies.delete(proxy)) this.#tell({ type: 'closeProxy', proxy });
      },
    };
  }

  async listen(): Promise<CommandListener & { port: number }> {
    const listener = ++this.#numbers;
    const port = await this.#call({ type: 'listen', listener });
    return { ...this.#listener(listener), port };
  }

  async receive(program: readonly string[], port: number): Promise<ReceivedListener> {
    const listener = ++this.#numbers;
    const pid = await this.#call({ type: 'receive', listener, program, port });
    return {
      ...this.#listener(listener),
      pid,
      endSender: () => this.#tell({ type: 'endSender', listener }),
    };
  }

  /** Ends the thread, and with it all connections. Can be called again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  #listener(listener: number): CommandListener {
    return {
      serve: async (server, credential) => {
        if (typeof server === 'function')
          throw new Error('a function serves only connections of its own thread');
        return this.#call({ type: 'serve', listener, proxy: server, credential });
      },
      close: () => this.#tell({ type: 'closeListener', listener }),
    };
  }

  #call(wanted: AnsweredCall): Promise<number> {
    return new Promise((resolve, reject) => {
      const worker = this.#started();
      const call = ++this.#numbers;
      if (this.#calls.size === 0) worker.ref();
      this.#calls.set(call, { resolve, reject });
      worker.postMessage({ ...wanted, call } satisfies ProxyCall);
    });
  }

  /** Does nothing if the thread has ended: then nothing is left to be closed. */
  #tell(call: ProxyCall): void {
    this.#worker?.postMessage(call);
  }

  #started(): Worker {
    if (this.#isClosed) throw new Error('the server is ending');
    if (this.#worker !== null) return this.#worker;
    this.#worker = startWorker<ProxyReply>({
      script: this.#options.script,
      heapMbMax: HEAP_MB_MAX,
      onMessage: (reply) => this.#receive(reply),
      onEnd: (reason) => this.#died(reason),
    });
    return this.#worker;
  }

  #receive(reply: ProxyReply): void {
    switch (reply.type) {
      case 'answer':
        this.#settle(reply);
        return;
      case 'decide':
        void this.#decide(reply);
        return;
      case 'gone':
        this.#proxies.get(reply.proxy)?.deciding.get(reply.question)?.abort();
        return;
      case 'notReached':
        this.#proxies
          .get(reply.proxy)
          ?.options.notReached(
            reply.target,
            new ProxyRefusal(reply.refusal.code, reply.refusal.message),
          );
        return;
      case 'log':
        this.#options.log[reply.level](reply.fields, reply.text);
        return;
      default:
        reply satisfies never;
    }
  }

  #settle(answer: Extract<ProxyReply, { type: 'answer' }>): void {
    const waiting = this.#calls.get(answer.call);
    this.#calls.delete(answer.call);
    if (this.#calls.size === 0) this.#worker?.unref();
    if ('error' in answer) waiting?.reject(new Error(answer.error));
    else waiting?.resolve(answer.value);
  }

  async #decide({
    proxy,
    question,
    request,
  }: Extract<ProxyReply, { type: 'decide' }>): Promise<void> {
    const opened = this.#proxies.get(proxy);
    this.#tell({
      type: 'decided',
      question,
      decision: opened === undefined ? ENDED : await decisionOf(opened, question, request),
    });
  }

  #died(reason: Error): void {
    this.#worker = null;
    if (!this.#isClosed)
      this.#options.log.error(
        { err: reason },
        'the thread of the proxies has died; the next command starts another',
      );
    for (const opened of this.#proxies.values()) giveUp(opened);
    this.#proxies.clear();
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const { reject } of calls)
      reject(new Error(`the thread of the proxies has died (${reason.message})`));
  }
}

const ENDED: DecisionData = { refusal: { code: 'busy', message: 'The command has ended.' } };

function giveUp({ deciding }: Opened): void {
  for (const gone of deciding.values()) gone.abort();
}

async function decisionOf(
  { options, deciding }: Opened,
  question: number,
  request: ProxyRequest,
): Promise<DecisionData> {
  const gone = new AbortController();
  deciding.set(question, gone);
  try {
    return { reaches: await options.decide(request, gone.signal) };
  } catch (error) {
    if (error instanceof ProxyRefusal)
      return { refusal: { code: error.code, message: error.message } };
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  } finally {
    deciding.delete(question);
  }
}
