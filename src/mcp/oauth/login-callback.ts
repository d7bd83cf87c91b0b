import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CallbackOptions {
  /** The port on the loopback address; null: any free one. */
  port: number | null;
  /** The address that the user's browser is sent back to; null: that of the loopback server. */
  url: string | null;
}

const PATH = '/callback';
const PAGE = 'The login has been passed on to heddle. You can close this window.\n';

/** An answer that is waited for. */
interface Expected {
  state: string;
  resolve(query: string | null): void;
}

/**
 * A server on the loopback address that the user's browser is sent back to at the end of a login.
 */
export class LoginCallback {
  readonly redirectUrl: string;
  readonly #server: Server;
  readonly #path: string;
  #expected: Expected | null = null;

  private constructor(server: Server, { url }: CallbackOptions) {
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    this.redirectUrl = url ?? `http://127.0.0.1:${port}${PATH}`;
    this.#path = new URL(this.redirectUrl).pathname;
    server.on('request', (request, response) => {
      const query = request.method === 'GET' ? this.#queryOf(request.url ?? '/') : null;
      response.writeHead(query === null ? 404 : 200, {
        'content-type': 'text/plain; charset=utf-8',
        connection: 'close',
      });
      response.end(query === null ? 'not found\n' : PAGE);
      if (query === null) return;
      this.#expected?.resolve(query);
      this.#expected = null;
    });
  }

  /** Rejects with the system's error if the port is taken. */
  static open(options: CallbackOptions): Promise<LoginCallback> {
    const server = createServer();
    server.unref();
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port ?? 0, '127.0.0.1', () =>
        resolve(new LoginCallback(server, options)),
      );
    });
  }

  /**
   * Resolves with the query of the answer with this state. Others are not taken: any page could
   * send them. Null: it has been closed.
   */
  answer(state: string): Promise<string | null> {
    return new Promise((resolve) => {
      this.#expected = { state, resolve };
    });
  }

  close(): void {
    this.#expected?.resolve(null);
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** The query of the expected answer; null: it is another request. */
  #queryOf(address: string): string | null {
    if (!URL.canParse(address, 'http://127.0.0.1')) return null;
    const { pathname, search, searchParams } = new URL(address, 'http://127.0.0.1');
    const isAnswer =
      pathname === this.#path && (searchParams.has('code') || searchParams.has('error'));
    return isAnswer && searchParams.get('state') === this.#expected?.state ? search.slice(1) : null;
  }
}
