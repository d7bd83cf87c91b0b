import type { MessagePort } from 'node:worker_threads';
import { systemClock } from '../../../../base/clock.ts';
import type { Log, LogMethod } from '../../../../base/log.ts';
import type { ProxyRequest } from '../../../../network/command-proxy.ts';
import { ProxyRefusal } from '../../../../network/proxy-refusal.ts';
import type { AddressKind } from '../../../../policy/network/address-kind.ts';
import type { CommandListener, ReceivedListener } from '../../../../sandbox/listeners.ts';
import { LocalListeners } from '../../../../sandbox/local-listeners.ts';
import type { OpenProxy } from '../../command-proxies.ts';
import { localProxies } from '../local-proxies.ts';
import type { AnsweredCall, DecisionData, ProxyCall, ProxyReply } from './proxy-call.ts';

/**
 * Has the proxies of commands and their listeners, as the messages of the port say. The other side
 * of the port decides.
 */
export function serveProxies(port: MessagePort): void {
  const server = new ProxyServer((reply) => port.postMessage(reply));
  port.on('message', (call: ProxyCall) => server.receive(call));
}

type Send = (reply: ProxyReply) => void;

class ProxyServer {
  readonly #send: Send;
  readonly #listeners = new LocalListeners(systemClock);
  readonly #proxies;
  readonly #open = new Map<number, Promise<OpenProxy>>();
  readonly #listening = new Map<number, CommandListener & Partial<ReceivedListener>>();
  readonly #questions = new Map<number, (decision: DecisionData) => void>();
  #asked = 0;

  constructor(send: Send) {
    this.#send = send;
    this.#proxies = localProxies({ clock: systemClock, log: portLog(send) });
  }

  receive(call: ProxyCall): void {
    switch (call.type) {
      case 'listen':
      case 'receive':
      case 'serve':
        void this.#answer(call);
        return;
      case 'openProxy':
        this.#open.set(call.proxy, this.#openProxy(call.proxy, call.socks));
        return;
      case 'closeProxy':
        void this.#open.get(call.proxy)?.then((proxy) => proxy.close());
        this.#open.delete(call.proxy);
        return;
      case 'decided':
        this.#questions.get(call.question)?.(call.decision);
        this.#questions.delete(call.question);
        return;
      case 'endSender':
        this.#listening.get(call.listener)?.endSender?.();
        return;
      case 'closeListener':
        this.#listening.get(call.listener)?.close();
        this.#listening.delete(call.listener);
        return;
      default:
        call satisfies never;
    }
  }

  async #answer({ call, ...wanted }: AnsweredCall & { call: number }): Promise<void> {
    try {
      this.#send({ type: 'answer', call, value: await this.#perform(wanted) });
    } catch (error) {
      this.#send({
        type: 'answer',
        call,
        error: error instanceof Error ? error.message : String(error),
      });
    }
  }

  async #perform(wanted: AnsweredCall): Promise<number> {
    if (wanted.type === 'serve') {
      return this.#serve(wanted);
    }
    if (wanted.type === 'listen') {
      const listener = await this.#listeners.listen();
      this.#listening.set(wanted.listener, listener);
      return listener.port;
    }
    const listener = await this.#listeners.receive(wanted.program, wanted.port);
    this.#listening.set(wanted.listener, listener);
    return listener.pid;
  }

  async #serve({
    listener,
    proxy,
    credential,
  }: Extract<AnsweredCall, { type: 'serve' }>): Promise<number> {
    const listening = this.#listening.get(listener);
    const open = proxy === null ? null : await this.#open.get(proxy);
    if (listening === undefined || open === undefined)
      throw new Error('the proxy of the command has ended');
    return listening.serve(open?.serve ?? null, credential);
  }

  #openProxy(proxy: number, socks: boolean): Promise<OpenProxy> {
    return this.#proxies.open({
      socks,
      decide: (request, signal) => this.#decide(proxy, request, signal),
      notReached: (target, { code, message }) =>
        this.#send({ type: 'notReached', proxy, target, refusal: { code, message } }),
    });
  }

  async #decide(
    proxy: number,
    request: ProxyRequest,
    signal: AbortSignal,
  ): Promise<readonly AddressKind[]> {
    const question = ++this.#asked;
    const tellGone = () => this.#send({ type: 'gone', proxy, question });
    const decision = await new Promise<DecisionData>((resolve) => {
      this.#questions.set(question, resolve);
      this.#send({ type: 'decide', proxy, question, request });
      signal.addEventListener('abort', tellGone);
      if (signal.aborted) tellGone();
    });
    signal.removeEventListener('abort', tellGone);
    if ('reaches' in decision) return decision.reaches;
    if ('failed' in decision) throw new Error(decision.failed);
    throw new ProxyRefusal(decision.refusal.code, decision.refusal.message);
  }
}

/** A log whose lines are sent to the log of the other side. */
function portLog(send: Send): Log {
  const at = (level: keyof Log): LogMethod => {
    return (...[first, text]: [object, string] | [string, undefined?]) =>
      send(
        typeof first === 'string'
          ? { type: 'log', level, fields: {}, text: first }
          : { type: 'log', level, fields: first, text: text ?? '' },
      );
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
