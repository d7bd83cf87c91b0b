import { expect, test } from 'vitest';
import { tempFolder } from '../config/temp-folder.ts';
import { OPEN, openListener, PORT, WITH_TOKEN } from './listening-server.ts';
import { RawConnection, TOKEN_HEADER, UPGRADE, upgrade } from './raw-connection.ts';

const HOST = 'Host: 127.0.0.1';
const ACCEPTED = { status: 101, text: '' };
const ORIGIN = { status: 403, text: 'the origin is not allowed (--ws-allow-origin)' };
const OTHER_HOST = { status: 403, text: 'the host is not allowed (--ws-allow-host)' };
const TWICE = { status: 400, text: 'a header is there twice' };
const NO_SOCKET = { status: 400, text: 'expected a web socket' };

const admission = { ...WITH_TOKEN, origins: ['https://good.example'], hosts: ['my.host'] };

test.each<[string, string[], { status: number; text: string }]>([
  ['no header of a page', [], ACCEPTED],
  ['an origin that is allowed', ['Origin: https://good.example'], ACCEPTED],
  ['another origin', ['Origin: https://evil.example'], ORIGIN],
  ['an origin that begins alike', ['Origin: https://good.example.evil'], ORIGIN],
  ['another scheme', ['Origin: http://good.example'], ORIGIN],
  ['another port', ['Origin: https://good.example:444'], ORIGIN],
  ['the origin of a file', ['Origin: null'], ORIGIN],
  ['an empty origin', ['Origin:'], ORIGIN],
  ['two origins', ['Origin: https://good.example', 'origin: https://evil.example'], TWICE],
  ['two tokens', ['Authorization: Bearer a', 'authorization: Bearer b'], TWICE],
])('a request with %s', async (_, headers, answer) => {
  const { address, refused } = await openListener(PORT, { admission });
  expect(await upgrade(address, [HOST, ...headers])).toEqual(answer);
  const isAccepted = answer === ACCEPTED;
  // A page may not even learn that a server is there.
  const health = await new RawConnection(address).request([HOST, ...headers], { path: '/healthz' });
  expect(health).toEqual(isAccepted ? { status: 200, text: '' } : answer);
  expect(refused()).toEqual(isAccepted ? [] : [answer.text, answer.text]);
});

test.each<[string, string[], { status: number; text: string }]>([
  ['an address', ['127.0.0.1:80', '127.0.0.1', '[::1]:1', '[::1]', '10.0.0.1'], ACCEPTED],
  ['localhost', ['localhost', 'LocalHost:99'], ACCEPTED],
  ['a name that is allowed', ['my.host', 'MY.host:1'], ACCEPTED],
  ['another name', ['evil.example', 'localhost.evil', '127.0.0.1.evil', 'my.host.'], OTHER_HOST],
  ['what is no name', ['', 'a:b', '[::1', '127.0.0.1:80:80', 'user@localhost'], OTHER_HOST],
])('a request to %s', async (_, hosts, answer) => {
  const { address } = await openListener(PORT, { admission });
  const answers = hosts.map((host) => upgrade(address, [`Host: ${host}`]));
  expect(await Promise.all(answers)).toEqual(hosts.map(() => answer));
});

test('a request with two hosts is refused', async () => {
  const { address } = await openListener(PORT, { admission });
  expect(await upgrade(address, [HOST, 'Host: my.host'])).toEqual(TWICE);
});

test.each([
  ['/healthz', { status: 200, text: '' }],
  ['/readyz', { status: 200, text: '' }],
  ['/readyz?x=1', { status: 200, text: '' }],
  ['/', NO_SOCKET],
  ['/healthz/', NO_SOCKET],
  ['/x', NO_SOCKET],
])('GET %s without an upgrade', async (path, answer) => {
  // Health needs no token.
  const port = await openListener(PORT);
  expect(await new RawConnection(port.address).request([HOST], { path })).toEqual(answer);
  const unix = await openListener(`unix://${tempFolder()}/s`);
  expect(await new RawConnection(unix.address).request([HOST], { path })).toEqual(NO_SOCKET);
});

test('other methods than GET are refused, and so is another upgrade', async () => {
  const { address } = await openListener(PORT);
  const post = await new RawConnection(address).request([HOST], {
    path: '/healthz',
    method: 'POST',
  });
  expect(post).toEqual({ status: 405, text: 'expected GET' });
  for (const wrong of [
    ['Connection: Upgrade', 'Upgrade: h2c'],
    UPGRADE.slice(0, 3),
    UPGRADE.map((header) => header.replace('13', '12')),
  ])
    expect((await new RawConnection(address).request([HOST, TOKEN_HEADER, ...wrong])).status).toBe(
      400,
    );
});

test('an upgrade works on any path, without the extensions and protocols that are offered', async () => {
  const connections: unknown[] = [];
  const { address } = await openListener(PORT, {
    onConnection: (transport) => connections.push(transport),
  });
  const raw = new RawConnection(address);
  const offered = ['Sec-WebSocket-Extensions: permessage-deflate', 'Sec-WebSocket-Protocol: a, b'];
  const answer = await raw.request([HOST, TOKEN_HEADER, ...UPGRADE, ...offered], {
    path: '/any?x=%00',
  });
  expect(answer.status).toBe(101);
  expect(raw.received.toString()).not.toMatch(/sec-websocket-(?:extensions|protocol)/i);
  expect(raw.received.toString()).toContain(
    'x-codex-websocket-max-unfragmented-message-bytes: 16777216\r\n',
  );
  expect(connections).toHaveLength(1);
});

test('a unix socket has no rules about pages and hosts', async () => {
  const { address } = await openListener(`unix://${tempFolder()}/s`);
  const headers = ['Host: evil.example', 'Origin: https://evil.example'];
  expect(await upgrade(address, headers)).toEqual(ACCEPTED);
});

test('long headers and half a request are refused', async () => {
  const { address } = await openListener(PORT);
  const long = await upgrade(address, [HOST, `X: ${'x'.repeat(20_000)}`]);
  expect(long.status).toBe(431);
  const raw = new RawConnection(address);
  raw.socket.end('GET / HT');
  await raw.closed;
  expect(raw.received.toString()).toMatch(/^HTTP\/1\.1 400 /);
});

test.each(['0.0.0.0', '[::]', '192.0.2.1'])('%s is refused without a token', async (host) => {
  const opened = openListener(`ws://${host}:0`, { admission: OPEN });
  await expect(opened).rejects.toThrow(
    `ws://${host}:0: other machines can reach this address, so clients need a token: use --ws-auth, or listen on 127.0.0.1`,
  );
});
