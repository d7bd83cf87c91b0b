import { describe, expect, test } from 'vitest';
import { idOf } from '../support/counting-ids.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { Gate } from '../support/gate.ts';
import { CLIENT_INFO, text } from '../support/test-client.ts';
import { message, response } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

/** The gauges of an idle server, except those given. */
function gauges(given: Record<string, number> = {}) {
  const values = {
    'app.connections.open': 1,
    'app.requests.in_flight': 1,
    'app.requests.queued': 0,
    'app.server_requests.pending': 0,
    'core.threads.live': 0,
    'core.turns.running': 0,
    ...given,
  };
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

/** What the server shows of an idle client. */
function connectionView(id: number) {
  return {
    id,
    peer: 'stdio',
    client: CLIENT_INFO,
    connectedAtMs: new FakeClock().now(),
    threadsFollowed: 0,
    unreadMessages: 0,
    unreadBytes: 0,
  };
}

describe('server/diagnostics', () => {
  test('reports the process and the gauges of an idle server', async () => {
    const { client } = await startServer({ pid: 815, residentMemoryBytes: () => 64_000_000 });
    expect(await client.request('server/diagnostics', {})).toEqual({
      process: { id: 815, residentMemoryBytes: 64_000_000, physicalFootprintBytes: null },
      gauges: gauges(),
      connections: [connectionView(0)],
    });
  });

  test('reports null for the memory if it is not measured', async () => {
    const { client } = await startServer();
    const { process } = await client.request('server/diagnostics', {});
    expect(process).toEqual({ id: 4711, residentMemoryBytes: null, physicalFootprintBytes: null });
  });

  test('counts connections, loaded threads and running turns', async () => {
    const { client, connect, model } = await startServer();
    const other = await connect();
    const gate = new Gate();
    model.push(response([gate], message('done')));
    await client.request('thread/start', {});
    await client.request('thread/start', {});
    const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('go') });
    await gate.reached;
    const busy = gauges({
      'app.connections.open': 2,
      'core.threads.live': 2,
      'core.turns.running': 1,
    });
    expect((await client.request('server/diagnostics', {})).gauges).toEqual(busy);
    gate.open();
    await client.turnCompleted(turn.id);
    await other.close();
    expect((await client.request('server/diagnostics', {})).gauges).toEqual(
      gauges({ 'core.threads.live': 2 }),
    );
  });

  test('counts running requests and those that wait behind them', async () => {
    const gate = new Gate();
    const { client } = await startServer({
      wrapStore: (store) => {
        const { listTurns } = store;
        store.listTurns = async (...args) => {
          await gate.pass();
          return listTurns.apply(store, args);
        };
        return store;
      },
    });
    await client.request('thread/start', {});
    const reads = [1, 2, 3].map(() =>
      client.request('thread/read', { threadId: idOf(1), includeTurns: true }),
    );
    await gate.reached;
    const busy = gauges({
      'app.requests.in_flight': 2,
      'app.requests.queued': 2,
      'core.threads.live': 1,
    });
    expect((await client.request('server/diagnostics', {})).gauges).toEqual(busy);
    gate.open();
    await Promise.all(reads);
    expect((await client.request('server/diagnostics', {})).gauges).toEqual(
      gauges({ 'core.threads.live': 1 }),
    );
  });

  test('needs the experimental API, and params', async () => {
    const { client, connect } = await startServer();
    expect(await client.refusal('server/diagnostics')).toMatchObject({
      code: -32600,
      data: { code: 'invalid_params' },
    });
    const plain = await connect({ capabilities: null });
    expect(await plain.refusal('server/diagnostics', {})).toMatchObject({
      data: { code: 'experimental_api_required' },
    });
  });
});

describe('server/connection/close', () => {
  test('ends the connection of another client, which can connect again', async () => {
    const { client, connect } = await startServer();
    const other = await connect();
    await other.request('thread/start', {});
    const { connections } = await client.request('server/diagnostics', {});
    expect(connections).toEqual([connectionView(0), { ...connectionView(1), threadsFollowed: 1 }]);
    expect(await client.request('server/connection/close', { connectionId: 1 })).toEqual({
      closed: true,
    });
    await other.ended;
    expect(await client.request('server/connection/close', { connectionId: 1 })).toEqual({
      closed: false,
    });
    const again = await connect();
    expect((await again.request('server/diagnostics', {})).connections).toEqual([
      connectionView(0),
      connectionView(2),
    ]);
  });

  test('a client that ends its own connection gets the response first', async () => {
    const { client } = await startServer();
    expect(await client.request('server/connection/close', { connectionId: 0 })).toEqual({
      closed: true,
    });
    await client.ended;
  });
});
