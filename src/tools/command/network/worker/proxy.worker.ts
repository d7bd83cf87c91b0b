// The script of the worker in which the proxies of commands are.
import { systemClock } from '../../../../base/clock.ts';
import type { MainThread } from '../../../../base/worker/remote.ts';
import { serveWorker } from '../../../../base/worker/serve-worker.ts';
import type { CommandListener, ReceivedListener } from '../../../../sandbox/listeners.ts';
import { LocalListeners } from '../../../../sandbox/local-listeners.ts';
import type { OpenProxy } from '../../command-proxies.ts';
import { localProxies } from '../local-proxies.ts';
import { PROXY_ERRORS, type ProxyDecisions, type ServedProxies } from './served-proxies.ts';

/** Has the proxies of commands and their listeners. The main thread decides. */
class Proxies implements ServedProxies {
  readonly #main: MainThread<ProxyDecisions>;
  readonly #listeners = new LocalListeners(systemClock);
  readonly #proxies;
  readonly #open = new Map<number, Promise<OpenProxy>>();
  readonly #listening = new Map<number, CommandListener & Partial<ReceivedListener>>();

  constructor(main: MainThread<ProxyDecisions>) {
    this.#main = main;
    this.#proxies = localProxies({ clock: systemClock, log: main.log });
  }

  openProxy(proxy: number, socks: boolean): void {
    const opened = this.#proxies.open({
      socks,
      decide: (request, gone) => this.#main.call('decide', [proxy, request], gone),
      notReached: (target, { code, message }) =>
        this.#main.tell('notReached', proxy, target, { code, message }),
    });
    this.#open.set(proxy, opened);
  }

  closeProxy(proxy: number): void {
    void this.#open.get(proxy)?.then((opened) => opened.close());
    this.#open.delete(proxy);
  }

  async listen(listener: number): Promise<number> {
    const listening = await this.#listeners.listen();
    this.#listening.set(listener, listening);
    return listening.port;
  }

  async receive(listener: number, program: readonly string[], port: number): Promise<number> {
    const listening = await this.#listeners.receive(program, port);
    this.#listening.set(listener, listening);
    return listening.pid;
  }

  async serve(listener: number, proxy: number | null, credential: string | null): Promise<number> {
    const listening = this.#listening.get(listener);
    const opened = proxy === null ? null : await this.#open.get(proxy);
    if (listening === undefined || opened === undefined)
      throw new Error('the proxy of the command has ended');
    return listening.serve(opened?.serve ?? null, credential);
  }

  endSender(listener: number): void {
    this.#listening.get(listener)?.endSender?.();
  }

  closeListener(listener: number): void {
    this.#listening.get(listener)?.close();
    this.#listening.delete(listener);
  }
}

serveWorker<ProxyDecisions>((main) => new Proxies(main), { knownErrors: PROXY_ERRORS });
