import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { Supplies } from './hostile-world.ts';

const PIPES_AT_ONCE = 100;
/**
 * Receives datagrams, for which Node has no sockets. Says when it listens, and then a line for each
 * datagram.
 */
const RECEIVER =
  'use Socket; $| = 1; socket(S, AF_UNIX, SOCK_DGRAM, 0); bind(S, sockaddr_un($ARGV[0])) or die $!; print "up\\n"; while (1) { recv(S, $b, 500, 0); print "$b\\n" }';

export interface RunSupplies extends Supplies {
  /** Returns and clears the list of messages that the sockets outside have received. */
  received(): string[];
}

/** Creates the supplies of a run in a new folder. Their processes and servers end with the test. */
export async function startSupplies(folder: string): Promise<RunSupplies> {
  mkdirSync(folder);
  const streamSocket = join(folder, 'stream.sock');
  const datagramSocket = join(folder, 'datagram.sock');
  const received: string[] = [];
  const server = createServer((client) => {
    received.push('a connection to the stream socket');
    client.destroy();
  });
  server.listen(streamSocket);
  await once(server, 'listening');
  const receiver = await startReceiver(datagramSocket, (line) =>
    received.push(`a datagram: ${line}`),
  );
  onTestFinished(() => {
    receiver.kill('SIGKILL');
    server.close();
  });
  const pipes: string[] = [];
  let made = 0;
  const pipe = () => {
    if (pipes.length === 0) {
      pipes.push(...Array.from({ length: PIPES_AT_ONCE }, () => join(folder, `pipe${made++}`)));
      execFileSync('mkfifo', pipes);
    }
    return pipes.pop() ?? '';
  };
  return {
    streamSocket,
    datagramSocket,
    pipe,
    received: () => received.splice(0),
  };
}

async function startReceiver(path: string, onLine: (line: string) => void): Promise<ChildProcess> {
  const receiver = spawn('perl', ['-e', RECEIVER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface(receiver.stdout);
  await once(lines, 'line');
  lines.on('line', onLine);
  return receiver;
}
