import { CLOSE_MS_MAX } from '../agent/closing-programs.ts';
import { systemClock } from '../base/clock.ts';
import { protectStore, storeFileIn } from '../base/files/own-file.ts';
import { KeepAlive } from '../base/keep-alive.ts';
import type { Log } from '../base/log.ts';
import { showText } from '../base/text/show-text.ts';
import type { ClientListeners } from '../listen/client-listeners.ts';
import type { ServeOptions } from './command-line/command.ts';
import { isListening } from './command-line/listen-options.ts';
import { createLog } from './log/create-log.ts';
import type { openListeners } from './open-listeners.ts';
import { EXIT_INTERNAL, type Service, type ServiceHost } from './service.ts';
import { tellOfUnused } from './tell-of-unused.ts';
import { STDOUT, watchClient } from './watch-client.ts';
import { workingDirectory } from './working-directory.ts';

type EndReason = 'shutdown' | 'clientGone';

/** A process that is a server. */
export interface ServeHost extends ServiceHost {
  /** As `openListeners` of open-listeners.ts, which it loads. */
  openListeners: typeof openListeners;
  /** The text for a person at a terminal. */
  greeting(): Promise<string>;
  /** The problems of the environment variables of the process, for people. */
  wrongVariables(overrides: readonly string[]): Promise<string[]>;
}

/**
 * Serves the client on stdin and stdout, and those that connect to the addresses of the command
 * line. With such addresses, the server goes on until a signal ends it; without, it ends with its
 * client.
 */
export async function serve(options: ServeOptions, host: ServeHost): Promise<void> {
  const { system, home } = host;
  if (options.listen.addresses.every(({ kind }) => kind === 'off'))
    throw new Error('with --listen off alone, no client can connect: use another address too');
  // Before the log, which the user could have put in its place.
  protectStore(storeFileIn(home));
  const log = createLog({ ...options, byDefault: 'warn' }, system.env, system.stderr);
  tellOfUnused(options.unused, log);
  for (const problem of await host.wrongVariables(options.overrides))
    log.warn({ problem }, 'wrong variable');
  await host.check(options);
  const service = await host.start(options, log, { input: system.stdin, output: system.stdout });
  const end = new ServerEnd(service, log, host);
  host.onFault(log, () => void end.now(EXIT_INTERNAL, 'shutdown'));
  const listeners = isListening(options)
    ? await listen(options, { service, log, host, end })
    : null;
  host.onSignal((signal) => end.onSignal(signal, { drains: listeners !== null }));
  if (options.listen.addresses.some(({ kind }) => kind === 'stdio'))
    await serveStdio(options, { service, log, host, end, outlives: listeners !== null });
}

/** Listens on the addresses of the command line. */
async function listen(
  options: ServeOptions,
  { service, log, host, end }: { service: Service; log: Log; host: ServeHost; end: ServerEnd },
): Promise<ClientListeners> {
  // Whoever has read the addresses may be gone: the server goes on.
  host.system.stderr.on('error', () => {});
  try {
    const opening = host.openListeners(options.listen, {
      home: host.home,
      cwd: workingDirectory(options.cwd),
      clock: systemClock,
      log,
      stderr: host.system.stderr,
      connect: (transport) => service.server.connect(transport),
    });
    // It may wait for another server that starts.
    const listeners = await new KeepAlive().during(opening);
    end.before(() => listeners.close());
    return listeners;
  } catch (error) {
    await end.now(host.fail(error), 'shutdown');
    throw error;
  }
}

/** `outlives`: whether the server goes on without this client. */
async function serveStdio(
  options: ServeOptions,
  {
    service: { server, transport },
    log,
    host: { system, greeting },
    end,
    outlives,
  }: { service: Service; log: Log; host: ServeHost; end: ServerEnd; outlives: boolean },
): Promise<void> {
  const clientGone = (why: string) => {
    log.info({ why }, 'the client is gone');
    if (!outlives) void end.now(0, 'clientGone');
  };
  system.stdout.on('error', ({ message }) => clientGone(message));
  if (!outlives)
    end.before(watchClient({ parent: () => system.ppid, output: STDOUT, onGone: clientGone }));
  if (system.stdin.isTTY) system.stderr.write(await greeting());
  // A paced input ends when all turns have ended but those that hang, so there is nothing to drain.
  await server.connect(transport, { drain: options.drain && !options.deterministic });
  if (!outlives) await end.now(0, 'clientGone');
}

/** Ends the server and the process, once. */
class ServerEnd {
  readonly #service: Service;
  readonly #log: Log;
  readonly #system: NodeJS.Process;
  readonly #before: (() => void)[] = [];
  #isDraining = false;
  #ending: Promise<void> | null = null;

  constructor(service: Service, log: Log, { system }: Pick<ServeHost, 'system'>) {
    this.#service = service;
    this.#log = log;
    this.#system = system;
  }

  /** Calls this before the server ends. */
  before(call: () => void): void {
    this.#before.push(call);
  }

  /** Ends turns and connections, and then the process with this exit code. */
  now(exitCode: number, reason: EndReason): Promise<void> {
    this.#ending ??= this.#end(exitCode, reason);
    return this.#ending;
  }

  /**
   * `drains`: the first signal lets the turns end by themselves. Else it ends them. The signal
   * after that ends the process at once; the watchdog then kills the commands that still run.
   */
  onSignal(signal: number, { drains }: { drains: boolean }): void {
    const exitCode = 128 + signal;
    if (this.#ending !== null) this.#system.exit(exitCode);
    else if (!drains || this.#isDraining) void this.now(exitCode, 'shutdown');
    else {
      this.#isDraining = true;
      this.#log.info('the server ends when its turns have ended; one more signal ends them');
      const ended = () => this.now(0, 'shutdown');
      void this.#service.server.drain().then(ended, ended);
    }
  }

  async #end(exitCode: number, reason: EndReason): Promise<void> {
    setTimeout(() => this.#system.exit(exitCode), CLOSE_MS_MAX).unref();
    for (const call of this.#before) {
      try {
        call();
      } catch (error) {
        this.#log.error({ err: error }, 'a step before the end failed');
      }
    }
    const reports = await this.#service.server.close(reason).catch((error: unknown) => {
      this.#log.error({ err: error }, 'closing the server failed');
      return [];
    });
    this.#service.end();
    for (const report of reports)
      this.#system.stderr.write(`heddle: ${showText(report, { multiline: true })}\n`);
    this.#system.exit(reports.length > 0 ? 1 : exitCode);
  }
}
