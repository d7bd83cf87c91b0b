import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, Server } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { mayStart, spawnProgram } from '../base/processes/spawn-program.ts';
import type { CommandListener, Listeners, ReceivedListener } from './listeners.ts';
import type { CommandServer } from './sandbox.ts';

const RECEIVE_MS_MAX = 10_000;
const STDERR_CHARS_MAX = 1000;
/** After so many rounds of the event loop without a connection, none waits. */
const QUIET_ROUNDS = 3;

/**
 * Runs in the namespace. A socket belongs to the namespace in which it was created, whoever uses
 * it: the server gets it, and accepts the connections of commands that enter the namespace later.
 * This process closes its copy first, because it would accept some, too.
 */
const SOURCE = `const server = require('node:net').createServer();
server.listen(Number(process.argv[1]), '127.0.0.1', () =>
  process.send(process.pid, server, () => server.close(() => process.send('closed'))));
process.once('disconnect', () => process.exit());`;

/** Listeners of this thread. They are served by functions. */
export class LocalListeners implements Listeners {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async listen(): Promise<CommandListener & { port: number }> {
    const { server, listener } = commandListener();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    return { ...listener, port: (server.address() as AddressInfo).port };
  }

  async receive(
    [program = '', ...args]: readonly string[],
    port: number,
  ): Promise<ReceivedListener> {
    await mayStart();
    const child = spawnProgram(program, [...args, '-e', SOURCE, String(port)], {
      env: { ELECTRON_RUN_AS_NODE: '1' },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const late = new AbortController();
    const timer = this.#clock.setTimer(() => {
      child.kill('SIGKILL');
      late.abort();
      child.stderr?.destroy();
    }, RECEIVE_MS_MAX);
    const endSender = () => {
      timer.clear();
      if (child.connected) child.disconnect();
    };
    try {
      return { ...(await receivedFrom(child, late.signal)), endSender };
    } catch (error) {
      endSender();
      throw error;
    }
  }
}

/**
 * The child sends its process id with the listener, and a second message when it does not listen
 * itself any more.
 */
function receivedFrom(
  child: ChildProcess,
  late: AbortSignal,
): Promise<CommandListener & { pid: number }> {
  let problem = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    problem = `${problem}${text}`.slice(0, STDERR_CHARS_MAX);
  });
  return new Promise((resolve, reject) => {
    let received: (CommandListener & { pid: number }) | null = null;
    const onClose = () => {
      received?.close();
      reject(new Error(problem.trim()));
    };
    child.once('error', reject);
    child.once('close', onClose);
    // While another process holds its stderr, 'close' does not come.
    late.addEventListener('abort', onClose);
    child.on('message', (message, sent) => {
      if (sent instanceof Server) {
        const { server, listener } = commandListener();
        server.listen(sent);
        server.unref();
        const close = () => {
          listener.close();
          sent.close();
        };
        received = { ...listener, close, pid: Number(message) };
      } else if (received === null) {
        child.kill('SIGKILL');
      } else {
        child.off('close', onClose);
        late.removeEventListener('abort', onClose);
        resolve(received);
      }
    });
  });
}

function commandListener(): { server: Server; listener: CommandListener } {
  let serving: { serve: Exclude<CommandServer, number>; credential: string | null } | null = null;
  let accepted = 0;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted++;
    if (serving === null) socket.destroy();
    else serving.serve(socket, serving.credential);
  });
  return {
    server,
    listener: {
      async serve(by, credential) {
        if (typeof by === 'number')
          throw new Error('a proxy of another thread cannot serve the connections of this one');
        serving = by === null ? null : { serve: by, credential };
        // The event loop accepts one connection in each of its rounds, if one waits in the queue of
        // the listener.
        let before = -1;
        for (let quiet = 0; quiet < QUIET_ROUNDS; quiet = accepted === before ? quiet + 1 : 0) {
          before = accepted;
          await setImmediate();
        }
        const count = accepted;
        accepted = 0;
        return count;
      },
      close: () => void server.close(),
    },
  };
}
