import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createServer, Server, type Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { SandboxUnavailableError } from '../processes/processes.ts';
import { makeUnnamedFile } from './make-unnamed-file.ts';

/** A network namespace without any connection to another one, and a listener in it. */
export interface NetworkNamespace {
  /** Handles of the namespace, and of the user namespace that owns it. They keep it alive. */
  net: number;
  user: number;
  /** A file without a name, for what bubblewrap writes about a command. */
  info: number;
  /** Called for each connection to the listener. */
  onConnection: (socket: Socket) => void;
  close(): void;
}

export interface PrepareDeps {
  /** The path of bubblewrap. */
  bubblewrap: string;
  /** The path of Node, or of a program that contains it. */
  node: string;
  clock: Clock;
  /** A folder to which no confined process can write. */
  home: string;
}

/** The port of the listener, on the loopback of the namespace. */
export const NAMESPACE_PORT = 3128;
const PREPARE_MS_MAX = 10_000;
const STDERR_CHARS_MAX = 1000;

/**
 * Runs in the namespace. A socket belongs to the namespace in which it was created, whoever uses it: the server gets it, and accepts
 * the connections of commands that enter the namespace later. This process closes its copy first, because it would accept some, too.
 */
const SOURCE = `const server = require('node:net').createServer();
server.listen(${NAMESPACE_PORT}, '127.0.0.1', () =>
  process.send(process.pid, server, () => server.close(() => process.send('closed'))));
process.once('disconnect', () => process.exit());`;

/** Makes a network namespace. Rejects with a `SandboxUnavailableError` if the system does not allow it. */
export async function prepareNamespace({ bubblewrap, node, clock, home }: PrepareDeps): Promise<NetworkNamespace> {
  const child = spawn(
    bubblewrap,
    ['--unshare-user', '--unshare-net', '--die-with-parent', '--ro-bind', '/', '/', '--', node, '-e', SOURCE],
    {
      env: { ELECTRON_RUN_AS_NODE: '1' },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    },
  );
  const timer = clock.setTimer(() => child.kill('SIGKILL'), PREPARE_MS_MAX);
  try {
    return await namespaceFrom(child, home);
  } finally {
    timer.clear();
    if (child.connected) child.disconnect();
  }
}

/** The child sends its process id with the listener, and a second message when it does not listen itself any more. */
function namespaceFrom(child: ChildProcess, home: string): Promise<NetworkNamespace> {
  let problem = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    problem = `${problem}${text}`.slice(0, STDERR_CHARS_MAX);
  });
  return new Promise((resolve, reject) => {
    let namespace: NetworkNamespace | null = null;
    const fail = (error: unknown) => {
      namespace?.close();
      namespace = null;
      reject(error);
    };
    const onClose = () => fail(unavailable(problem.trim()));
    child.once('error', (error) => fail(unavailable(error.message)));
    child.once('close', onClose);
    child.on('message', (message, listener) => {
      try {
        if (listener instanceof Server) namespace = namespaceOf(Number(message), listener, home);
        else if (namespace === null) throw unavailable('the namespace has no listener');
        else {
          child.off('close', onClose);
          resolve(namespace);
        }
      } catch (error) {
        fail(error);
      }
    });
  });
}

/** To be called while the process is in the namespace. */
function namespaceOf(pid: number, received: Server, home: string): NetworkNamespace {
  const files: number[] = [];
  const close = () => {
    received.close();
    for (const file of files) closeSync(file);
  };
  try {
    files.push(makeUnnamedFile(home, Buffer.alloc(0)));
    for (const type of ['net', 'user']) files.push(openSync(`/proc/${pid}/ns/${type}`, 'r'));
  } catch (error) {
    close();
    throw error;
  }
  const [info = -1, net = -1, user = -1] = files;
  const namespace: NetworkNamespace = { net, user, info, onConnection: (socket) => socket.destroy(), close };
  const listener = createServer({ allowHalfOpen: true }, (socket) => namespace.onConnection(socket));
  listener.listen(received);
  listener.unref();
  return namespace;
}

function unavailable(problem: string): SandboxUnavailableError {
  return new SandboxUnavailableError(
    `Commands cannot use the network through heddle's proxy: a network namespace cannot be prepared (${problem === '' ? 'no answer' : problem}).`,
  );
}
