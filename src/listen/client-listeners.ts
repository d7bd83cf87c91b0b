import { chmodSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { hideSocket } from '../base/files/hidden-sockets.ts';
import { openFilesMax } from '../base/files/open-files-max.ts';
import { withLockFile } from '../base/files/with-lock-file.ts';
import type { Log } from '../base/log.ts';
import { realPathOrSame } from '../base/paths/real-path.ts';
import { statOf } from '../base/paths/stat-of.ts';
import { hasErrorCode } from '../base/system-error-code.ts';
import type { Transport } from '../transport/transport.ts';
import { type AdmissionRules, clientRefusal, requestRefusal } from './admission-rules.ts';
import type { HttpFront, HttpFrontOptions } from './http-front.ts';
import { isLoopback, type ListenAddress, socketUrl } from './listen-address.ts';
import { ListenError } from './listen-error.ts';
import { homeSocket, prepareSocketFolder, removeStaleSocket } from './prepare-socket-folder.ts';

export interface ClientListenersOptions {
  home: string;
  cwd: string;
  admission: AdmissionRules;
  clock: Clock;
  log: Log;
  /** Called for each client. */
  onConnection(transport: Transport): void;
}

/** A listener that is open. */
export interface OpenListener {
  /** The address as clients write it, with the real port or the absolute path. */
  address: string;
  kind: 'ws' | 'unix';
  close(): void;
}

/** The addresses on which a server accepts clients. */
export class ClientListeners {
  readonly #open: OpenListener[] = [];
  readonly #options: ClientListenersOptions;
  /** The rest of the files that this process can open is for its work. */
  readonly #connectionsMax = Math.floor(openFilesMax() / 2);
  #connections = 0;

  constructor(options: ClientListenersOptions) {
    this.#options = options;
  }

  /** Rejects with a ListenError. Listeners that are open by then stay so until `close`. */
  async open(address: Extract<ListenAddress, { kind: 'ws' | 'unix' }>): Promise<OpenListener> {
    const opened =
      address.kind === 'ws' ? await this.#openPort(address) : await this.#openSocket(address.path);
    this.#open.push(opened);
    return opened;
  }

  /** No further client is accepted. */
  close(): void {
    for (const { close } of this.#open.splice(0)) close();
  }

  /** Takes the place of a connection. Returns its release; null: no place is left. */
  #takePlace(): (() => void) | null {
    if (this.#connections >= this.#connectionsMax) return null;
    this.#connections++;
    if (this.#connections === this.#connectionsMax)
      this.#options.log.warn(
        { connections: this.#connections },
        'no further client can connect: the connections use half of the files that this process can open',
      );
    return () => void this.#connections--;
  }

  async #openPort({ host, port }: { host: string; port: number }): Promise<OpenListener> {
    const { admission, clock } = this.#options;
    if (admission.bearer === null && !isLoopback(host))
      throw new ListenError(
        `${socketUrl({ host, port })}: other machines can reach this address, so clients need a token: use --ws-auth, or listen on 127.0.0.1`,
      );
    const front = await this.#front({
      tellsHealth: true,
      requestRefusal: (request) => requestRefusal(request, admission),
      clientRefusal: (request) => clientRefusal(request, admission, clock),
    });
    await listening(front, { host, port }, socketUrl({ host, port }));
    const { port: real } = front.server.address() as AddressInfo;
    return { kind: 'ws', address: socketUrl({ host, port: real }), close: () => front.close() };
  }

  async #openSocket(typed: string | null): Promise<OpenListener> {
    const { home, cwd, clock, log } = this.#options;
    const path = typed === null ? homeSocket(home) : resolve(cwd, typed);
    const folder = dirname(path);
    await prepareSocketFolder(path, home);
    // Only this user can open the socket, and commands in a sandbox do not see it.
    const front = await this.#front({
      tellsHealth: false,
      requestRefusal: () => null,
      clientRefusal: () => Promise.resolve(null),
    });
    await withLockFile(join(folder, LOCK), clock, async () => {
      await removeStaleSocket(path);
      const room = mkdtempSync(join(folder, '.h'));
      const bound = join(room, 's');
      try {
        await listening(front, { path: bound }, path);
        chmodSync(bound, MODE);
        renameSync(bound, path);
      } finally {
        rmSync(room, { recursive: true, force: true });
      }
    });
    const own = statOf(path);
    let isOpen = true;
    const close = () => {
      if (!isOpen) return;
      isOpen = false;
      showAgain();
      front.close();
      const there = statOf(path);
      // Another server may have taken its place.
      if (there !== null && there.ino === own?.ino && there.dev === own.dev)
        rmSync(path, { force: true });
    };
    const showAgain = hideSocket(realPathOrSame(path), () => {
      log.error({ path }, 'the socket was moved or replaced, so nobody can connect to it any more');
      close();
    });
    return { kind: 'unix', address: `unix://${path}`, close };
  }

  async #front(
    rules: Pick<HttpFrontOptions, 'tellsHealth' | 'requestRefusal' | 'clientRefusal'>,
  ): Promise<HttpFront> {
    const { HttpFront } = await import('./http-front.ts');
    const { clock, log, onConnection } = this.#options;
    return new HttpFront({
      ...rules,
      clock,
      onConnection,
      takePlace: () => this.#takePlace(),
      onRefused: (refusal) => log.warn({ ...refusal }, 'a client was refused'),
      onFault: (error) => log.error({ err: error }, 'a client could not be checked'),
    });
  }
}

const LOCK = 'app-server-startup.lock';
/** Only its user can connect. */
const MODE = 0o600;

/** Rejects with a ListenError. */
function listening(
  { server }: HttpFront,
  at: { host: string; port: number } | { path: string },
  shown: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) =>
      reject(
        new ListenError(
          hasErrorCode(error, ['EADDRINUSE'])
            ? `${shown} is already in use by another program`
            : `${shown} cannot be listened on: ${error.message}`,
        ),
      );
    server.once('error', failed);
    server.listen(at, () => {
      server.off('error', failed);
      server.on('error', () => {});
      resolve();
    });
  });
}
