import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageStream } from './mock-model.ts';
import type { ServerProcess } from './server-process.ts';
import { SocketClient } from './socket-client.ts';
import { median, type Row } from './table.ts';
import { type Bench, newHome, PROMPT, type Subject, startServer } from './workloads.ts';

/** The columns of the table. */
export const ONE_OR_MANY: [string, string] = ['one client', 'many clients'];

const IDLE_CLIENTS = 1_000;
const AT_A_TIME = 50;
const IDLE_MS = 10_000;
/** The server has done by then what follows a handshake. */
const SETTLE_MS = 2_000;
const FOLLOWERS = 100;
const DELTAS = 20_000;
const TURNS = 100;
const HANDSHAKES = 50;
const DELTA = Buffer.from('{"method":"item/agentMessage/delta"');

/** Measures a server that listens. */
export async function measureListening(subject: Subject, bench: Bench): Promise<Row[]> {
  const home = newHome(bench);
  const port = await freePort();
  const path = join(home, 's');
  const args = ['app-server', '--stdio', '--listen', `ws://127.0.0.1:${port}`, '--listen'];
  const listening: Subject = {
    ...subject,
    command: [...subject.command, ...args, `unix://${path}`],
  };
  const server = startServer(listening, home, bench);
  await server.initialize();
  const threadId = await server.startThread(bench.folder);
  await server.turn(threadId, PROMPT);
  const rows = [
    ...(await latencies(server, { threadId, port, path })),
    ...(await idle(server, port)),
    ...(await following(server, port, bench)),
    ...(await slowClient(server, port, bench)),
  ];
  // It goes on without its client.
  server.kill();
  return rows;
}

function row(name: string, unit: string, one: number | null, many: number | null): Row {
  const [first, second] = ONE_OR_MANY;
  return {
    name,
    unit,
    values: {
      ...(one === null ? {} : { [first]: [one] }),
      ...(many === null ? {} : { [second]: [many] }),
    },
  };
}

/** Handshakes and turns over each transport. */
async function latencies(
  server: ServerProcess,
  { threadId, port, path }: { threadId: string; port: number; path: string },
): Promise<Row[]> {
  const rows: Row[] = [];
  const turns: Record<string, number[]> = { stdio: [], ws: [], unix: [] };
  for (let count = 0; count < TURNS; count++)
    turns.stdio?.push(await server.turn(threadId, PROMPT));
  for (const [name, at] of [
    ['ws', port],
    ['unix', path],
  ] as const) {
    const handshakes: number[] = [];
    for (let count = 0; count < HANDSHAKES; count++) {
      const startedAt = performance.now();
      const client = await SocketClient.connect(at);
      await client.initialize();
      handshakes.push(performance.now() - startedAt);
      client.close();
    }
    rows.push(row(`connect → initialize over ${name}`, 'ms', median(handshakes), null));
    const client = await SocketClient.connect(at);
    await client.initialize();
    const own = await newThread(client);
    for (let count = 0; count < TURNS; count++) turns[name]?.push(await turn(client, own));
    client.close();
  }
  for (const [name, times] of Object.entries(turns))
    rows.push(row(`a turn over ${name}`, 'ms', median(times), null));
  return rows;
}

/** Clients that do nothing. */
async function idle(server: ServerProcess, port: number): Promise<Row[]> {
  const before = server.memory().now;
  const clients: SocketClient[] = [];
  while (clients.length < IDLE_CLIENTS)
    clients.push(
      ...(await Promise.all(Array.from({ length: AT_A_TIME }, () => SocketClient.connect(port)))),
    );
  for (const client of clients) await client.initialize();
  await sleep(SETTLE_MS);
  const kib = ((server.memory().now - before) * 1024) / IDLE_CLIENTS;
  const startedMs = server.cpuMs();
  await sleep(IDLE_MS);
  const share = ((server.cpuMs() - startedMs) / IDLE_MS) * 100;
  for (const client of clients) client.close();
  await sleep(SETTLE_MS);
  const of = `${IDLE_CLIENTS.toLocaleString('en')} idle clients`;
  return [
    row(`${of}: resident memory of each`, 'KiB', null, kib),
    row(`${of}: processor`, '%', null, share),
  ];
}

/** Clients that follow one stream. */
async function following(server: ServerProcess, port: number, bench: Bench): Promise<Row[]> {
  // The server's code is compiled by then.
  for (const count of [1, FOLLOWERS]) await followed(server, { port, bench, count });
  const one = await followed(server, { port, bench, count: 1 });
  const many = await followed(server, { port, bench, count: FOLLOWERS });
  const of = `a turn of ${DELTAS.toLocaleString('en')} deltas, followed by 1 or ${FOLLOWERS}`;
  return [
    row(of, 'ms', one.ms, many.ms),
    row(`${of}: processor time of the server`, 'ms', one.cpuMs, many.cpuMs),
    row(`${of}: clients that got all`, '', one.whole, many.whole),
  ];
}

interface Followed {
  /** Until the last client has the end of the turn. */
  ms: number;
  cpuMs: number;
  /** The number of clients that got each delta, and as many bytes as the others. */
  whole: number;
}

async function followed(
  server: ServerProcess,
  { port, bench, count }: { port: number; bench: Bench; count: number },
): Promise<Followed> {
  const clients = await Promise.all(
    Array.from({ length: count }, () => SocketClient.connect(port)),
  );
  for (const client of clients) await client.initialize();
  const [first] = clients;
  if (first === undefined) throw new Error('there is no client');
  const threadId = await newThread(first);
  await turn(first, threadId);
  for (const client of clients.slice(1)) await client.request('thread/resume', { threadId });
  bench.model.answer = manyDeltas();
  const [startedAt, startedMs] = [performance.now(), server.cpuMs()];
  const seen = clients.map((client) => deltasOf(client));
  void first.request('turn/start', { threadId, input: [{ type: 'text', text: PROMPT }] });
  const found = await Promise.all(seen);
  const ms = performance.now() - startedAt;
  const cpuMs = server.cpuMs() - startedMs;
  for (const client of clients) client.close();
  bench.model.answer = messageStream(['Done.']);
  const isWhole = (one: Deltas) => one.count === DELTAS && one.bytes === found[0]?.bytes;
  return { ms, cpuMs, whole: found.filter(isWhole).length };
}

function manyDeltas(): Buffer {
  return messageStream(Array.from({ length: DELTAS }, (_, index) => `word${index} `));
}

interface Deltas {
  count: number;
  bytes: number;
}

/** Resolves at the end of the turn. */
async function deltasOf(client: SocketClient): Promise<Deltas> {
  const deltas: Deltas = { count: 0, bytes: 0 };
  client.onFrame = (payload) => {
    if (!payload.subarray(0, DELTA.length).equals(DELTA)) return;
    deltas.count++;
    deltas.bytes += payload.length;
  };
  await client.next('{"method":"turn/completed"');
  client.onFrame = () => {};
  return deltas;
}

/** A client that reads nothing, beside one that reads all. */
async function slowClient(server: ServerProcess, port: number, bench: Bench): Promise<Row[]> {
  const alone = await followed(server, { port, bench, count: 1 });
  const [fast, slow] = await Promise.all([SocketClient.connect(port), SocketClient.connect(port)]);
  for (const client of [fast, slow]) await client.initialize();
  const threadId = await newThread(fast);
  await turn(fast, threadId);
  await slow.request('thread/resume', { threadId });
  slow.pause();
  bench.model.answer = manyDeltas();
  const startedAt = performance.now();
  const seen = deltasOf(fast);
  void fast.request('turn/start', { threadId, input: [{ type: 'text', text: PROMPT }] });
  const { count } = await seen;
  const ms = performance.now() - startedAt;
  for (const client of [fast, slow]) client.close();
  const of = 'beside a client that reads nothing';
  return [
    row(`a turn of ${DELTAS.toLocaleString('en')} deltas, ${of}`, 'ms', alone.ms, ms),
    row(`deltas ${of}`, '', DELTAS, count),
  ];
}

async function newThread(client: SocketClient): Promise<string> {
  const answer = JSON.parse(String(await client.request('thread/start', {})));
  return answer.result.thread.id;
}

async function turn(client: SocketClient, threadId: string): Promise<number> {
  const startedAt = performance.now();
  const ended = client.next('{"method":"turn/completed"');
  void client.request('turn/start', { threadId, input: [{ type: 'text', text: PROMPT }] });
  await ended;
  return performance.now() - startedAt;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
