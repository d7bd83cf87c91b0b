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

/** A server on the loopback address that the user's browser is sent back to at the end of a login. */
export class LoginCallback {
  readonly #server: Server;
  readonly #path: string;
  readonly redirectUrl: string;
  #onQuery: (query: string) => void = () => {};
  /** The query of an answer that came before anybody waited for it. */
  #early: string | null = null;

  private constructor(server: Server, { url }: CallbackOptions) {
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    this.redirectUrl = url ?? `http://127.0.0.1:${port}${PATH}`;
    this.#path = new URL(this.redirectUrl).pathname;
    server.on('request', (request, response) => {
      const { pathname, search } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const isAnswer = request.method === 'GET' && pathname === this.#path && /[?&](code|error)=/.test(search);
      response.writeHead(isAnswer ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
      response.end(isAnswer ? PAGE : 'not found\n');
      if (isAnswer) this.#take(search.slice(1));
    });
  }

  /** Rejects with the system's error if the port is taken. */
  static open(options: CallbackOptions): Promise<LoginCallback> {
    const server = createServer();
    server.unref();
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port ?? 0, '127.0.0.1', () => resolve(new LoginCallback(server, options)));
    });
  }

  /** Resolves with the query of the next answer. */
  answer(): Promise<string> {
    return new Promise((resolve) => {
      if (this.#early === null) this.#onQuery = resolve;
      else resolve(this.#early);
      this.#early = null;
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #take(query: string): void {
    const onQuery = this.#onQuery;
    this.#onQuery = (early) => {
      this.#early = early;
    };
    onQuery(query);
  }
}
