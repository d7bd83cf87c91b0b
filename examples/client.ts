import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { ClientRequests, ServerNotifications } from '../src/protocol/generated/types.ts';

/** What the server tells without being asked; `method` says what `params` is. */
export type Notification = {
  [Method in keyof ServerNotifications]: { method: Method; params: ServerNotifications[Method] };
}[keyof ServerNotifications];

export interface ClientOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  onNotification: (notification: Notification) => void;
  /** Told of every line on the wire, before anything is made of it. */
  onLine?: (direction: 'sent' | 'received', line: string) => void;
}

interface Waiting {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/** Starts a server and talks to it as an editor would: one JSON message a line, on the server's stdin and stdout. */
export class Client {
  /** Resolves with the exit code or the signal when the server is gone and all that it wrote has been read. */
  readonly ended: Promise<number | string | null>;
  readonly #server: ChildProcessByStdio<Writable, Readable, null>;
  readonly #options: ClientOptions;
  readonly #waiting = new Map<number, Waiting>();
  #requests = 0;
  #unfinishedLine = '';
  #isGone = false;

  constructor([command, ...args]: [string, ...string[]], options: ClientOptions) {
    this.#options = options;
    this.#server = spawn(command, args, { cwd: options.cwd, env: options.env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#server.stdin.on('error', () => {}); // A server that cannot be written to is gone, and that is told below.
    this.#server.stdout.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    this.ended = new Promise((resolve, reject) => {
      this.#server.on('error', reject);
      this.#server.on('close', (code, signal) => resolve(signal ?? code));
    });
    this.ended.then(
      (how) => this.#failAll(new Error(`the server has ended (${how})`)),
      (error: Error) => this.#failAll(error),
    );
  }

  /** Resolves with the answer's result; rejects with what the server said was wrong, or when the server is gone. */
  request<Method extends keyof ClientRequests>(
    method: Method,
    params: ClientRequests[Method]['params'],
  ): Promise<ClientRequests[Method]['result']> {
    if (this.#isGone) return Promise.reject(new Error(`${method}: the server has ended`));
    const id = ++this.#requests;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject: (error) => reject(new Error(`${method}: ${error.message}`)) });
      this.#send({ id, method, params });
    });
  }

  notify(method: 'initialized'): void {
    this.#send({ method });
  }

  /** The polite end: the server answers what it has read, and exits. */
  close(): Promise<number | string | null> {
    this.#server.stdin.end();
    return this.ended;
  }

  /** The rude end: `kill -9`. */
  kill(): Promise<number | string | null> {
    this.#server.kill('SIGKILL');
    return this.ended;
  }

  #send(message: object): void {
    const line = JSON.stringify(message);
    this.#options.onLine?.('sent', line);
    this.#server.stdin.write(`${line}\n`);
  }

  #read(text: string): void {
    const lines = (this.#unfinishedLine + text).split('\n');
    this.#unfinishedLine = lines.pop() ?? '';
    for (const line of lines) {
      this.#options.onLine?.('received', line);
      this.#receive(JSON.parse(line));
    }
  }

  #receive(message: { id?: number; method?: string; result?: never; error?: { message: string } }): void {
    const { id, method, result, error } = message;
    if (method !== undefined && id !== undefined) {
      // The server asks something, for instance for an approval. Whoever cannot answer has to say so, or the turn waits.
      this.#send({ id, error: { code: -32601, message: `${method} is not supported by this client` } });
    } else if (method !== undefined) {
      this.#options.onNotification(message as Notification);
    } else if (id !== undefined) {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result as never);
      else waiting?.reject(new Error(error.message));
    }
  }

  #failAll(error: Error): void {
    this.#isGone = true;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
