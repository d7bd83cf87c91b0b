import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { LoginWeb } from '../../src/mcp/oauth/login-web.ts';
import { RecordingLog } from '../support/recording-log.ts';

const PUBLIC = '93.184.216.34';
const OPTIONS = { bytesMax: 1024, partsMax: 100, headers: {} };

/** A server of this machine, and what it has received. */
async function local(): Promise<{ port: number; received: string[] }> {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(`${request.method} ${request.headers.host}${request.url}`);
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, received };
}

/** A web in which names lead to these addresses; to the next of several lists, each time. */
function web(names: Record<string, string[][]>, env: Record<string, string> = {}): LoginWeb {
  return new LoginWeb({ clock: systemClock, env, log: new RecordingLog() }, async (name) => {
    const lists = names[name] ?? [];
    const found = lists.length > 1 ? lists.shift() : lists[0];
    if (found === undefined)
      throw Object.assign(new Error(`${name} is not known`), { code: 'ENOTFOUND' });
    return found.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  });
}

const post = { method: 'POST', body: 'code=secret' };
const NAMES = {
  'mcp.example': [[PUBLIC]],
  localhost: [['127.0.0.1']],
  'private.example': [['127.0.0.1']],
  'mixed.example': [[PUBLIC, '127.0.0.1']],
  'mapped.example': [['::ffff:127.0.0.1']],
  'metadata.example': [['169.254.169.254']],
};

test.each([
  ...[
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0.0.0.0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::]',
    'localhost',
    '10.0.0.1',
  ],
  ...[
    '192.168.1.1',
    '172.20.0.1',
    '100.64.0.1',
    '169.254.169.254',
    '[fd00::1]',
    '[fe80::1]',
    '[64:ff9b::7f00:1]',
    '100.100.100.200',
  ],
  ...[
    'private.example',
    'mixed.example',
    'mapped.example',
    'metadata.example',
    'PRIVATE.example',
    'x.localhost',
    'localhost.',
  ],
])('a server at a public address cannot send the login to %s', async (host) => {
  const { port, received } = await local();
  const fetch = web(NAMES).loginFetch(
    { url: 'https://mcp.example/mcp', reachesPrivate: false },
    OPTIONS,
  );
  for (const path of ['/.well-known/oauth-authorization-server', '/register', '/token'])
    await expect(fetch(`http://${host}:${port}${path}`, post)).rejects.toThrow(
      'which is not a public address',
    );
  expect(received).toEqual([]);
});

test('the refusal names the address and the setting that allows it', async () => {
  const fetch = web(NAMES).loginFetch(
    { url: 'https://mcp.example/mcp', reachesPrivate: false },
    OPTIONS,
  );
  await expect(fetch('http://private.example:1/token')).rejects.toThrow(
    /private\.example \(127\.0\.0\.1\).*`oauth\.allow_private_addresses = true`/,
  );
});

test.each([
  ['with the setting', 'https://mcp.example/mcp', true],
  ['of a server of this machine', 'http://127.0.0.1:9/mcp', false],
  ['of a server at a private name', 'http://private.example/mcp', false],
  ['of a server at a private address', 'http://10.1.2.3/mcp', false],
])('the login %s reaches private addresses', async (_, url, reachesPrivate) => {
  const { port, received } = await local();
  const fetch = web(NAMES).loginFetch({ url, reachesPrivate }, OPTIONS);
  for (const host of ['127.0.0.1', 'private.example'])
    expect((await fetch(`http://${host}:${port}/token`, post)).status).toBe(200);
  expect(received).toEqual([`POST 127.0.0.1:${port}/token`, `POST private.example:${port}/token`]);
});

test('a server whose name once led to a public address stays public, and so does one whose name leads nowhere', async () => {
  const { port, received } = await local();
  const changing = web({ 'mcp.example': [[PUBLIC], ['127.0.0.1']] });
  const fetch = changing.loginFetch(
    { url: 'https://mcp.example/mcp', reachesPrivate: false },
    OPTIONS,
  );
  for (let times = 0; times < 3; times++)
    await expect(fetch(`http://127.0.0.1:${port}/token`)).rejects.toThrow('not a public address');
  const unknown = changing.loginFetch(
    { url: 'https://unknown.example/mcp', reachesPrivate: false },
    OPTIONS,
  );
  await expect(unknown(`http://127.0.0.1:${port}/token`)).rejects.toThrow('not a public address');
  expect(received).toEqual([]);
});

test('a connection that the server itself has opened is not used for its login', async () => {
  const { port, received } = await local();
  // The name leads to both when the server is reached, and the first one answers.
  const both = web({ 'mcp.example': [['127.0.0.1', PUBLIC]] });
  const address = `http://mcp.example:${port}/mcp`;
  const reached = await both.web.client.ask(
    {
      method: 'GET',
      url: new URL(address),
      proxy: null,
      headers: {},
      body: null,
      connectMsMax: 1000,
      idleMsMax: 1000,
    },
    new AbortController().signal,
  );
  expect(await reached.head()).toMatchObject({ status: 200 });
  reached.finish();
  const fetch = both.loginFetch({ url: address, reachesPrivate: false }, OPTIONS);
  await expect(fetch(`http://mcp.example:${port}/token`, post)).rejects.toThrow(
    'not a public address',
  );
  expect(received).toHaveLength(1);
});

test('a proxy of the user may have a private address, and does not get literal private addresses either', async () => {
  const { port, received } = await local();
  const proxied = web(
    { ...NAMES, 'proxy.example': [['127.0.0.1']] },
    { http_proxy: `http://proxy.example:${port}` },
  );
  const fetch = proxied.loginFetch(
    { url: 'https://mcp.example/mcp', reachesPrivate: false },
    OPTIONS,
  );
  expect((await fetch('http://login.example/token', post)).status).toBe(200);
  await expect(fetch('http://10.0.0.1/token', post)).rejects.toThrow('not a public address');
  expect(received).toEqual(['POST login.examplehttp://login.example/token']);
});

test.each([
  ...[
    'http://127.0.0.1/a',
    'http://0x7f.1/a',
    'https://[::1]/a',
    'http://localhost:8080/a',
    'http://x.localhost/a',
    'http://localhost./a',
  ],
  ...[
    'http://192.168.1.1/a',
    'http://private.example/a',
    'http://mixed.example/a',
    'http://169.254.169.254/a',
    'http://[::ffff:10.0.0.1]/a',
  ],
])('a server at a public address cannot send the browser of the user to %s', async (address) => {
  for (const env of [
    {},
    { http_proxy: 'http://proxy.example:1', https_proxy: 'http://proxy.example:1' },
  ]) {
    const names = web(NAMES, env);
    const target = { url: 'https://mcp.example/mcp', reachesPrivate: false };
    const isName = /private|mixed/.test(address);
    // Behind a proxy, it is not known where a name leads.
    if (!('http_proxy' in env && isName))
      await expect(names.checkShown(target, address)).rejects.toThrow('not a public address');
    await names.checkShown({ ...target, reachesPrivate: true }, address);
    await names.checkShown({ ...target, url: 'http://10.1.2.3/mcp' }, address);
    await names.checkShown(target, 'https://mcp.example/authorize');
    await names.checkShown(target, `https://${PUBLIC}/authorize`);
  }
});

test('a public address of this machine is not public', async () => {
  const own = Object.values(networkInterfaces()).flatMap((entries) =>
    (entries ?? []).map(({ address }) => address),
  );
  const fetch = web({ 'mcp.example': [[PUBLIC]], 'own.example': [own] }).loginFetch(
    { url: 'https://mcp.example/mcp', reachesPrivate: false },
    OPTIONS,
  );
  await expect(fetch('http://own.example:1/token')).rejects.toThrow('not a public address');
});
