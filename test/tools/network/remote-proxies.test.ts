import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ProxyRefusal } from '../../../src/network/proxy-refusal.ts';
import { RemoteProxies } from '../../../src/tools/command/network/worker/remote-proxies.ts';
import { tempFolder } from '../../config/temp-folder.ts';
import { exchange, request, startEcho, startWebServer } from '../../network/proxied.ts';
import { curl } from '../../support/curl.ts';
import { RecordingLog } from '../../support/recording-log.ts';
import { completed, done, modelOutput, runs, THREAD } from '../command-server.ts';
import { decide, MANAGED_CONFIG, managed } from './managed-server.ts';
import { proxyScript, startProxyWorker } from './proxy-worker.ts';

const OPEN_CONFIG = MANAGED_CONFIG.replace(
  'enabled = true\n',
  'enabled = true\nallow_local_binding = true\n',
);

test('a command reaches a host through the proxy in its thread, once a person has allowed it', {
  timeout: 60_000,
}, async () => {
  const { port } = await startWebServer((_request, response) => response.end('from the web'));
  const url = `http://127.0.0.1:${port}/`;
  const config = OPEN_CONFIG.concat('[features.network_proxy.domains]\n"127.0.0.1" = "allow"\n');
  const server = await managed(
    [runs(`curl -s --noproxy '' ${url}; curl -s http://b.example/`), done],
    {
      config,
      workerScript: proxyScript(),
    },
  );
  const turn = server.client.turn(THREAD, 'go');
  await decide(server, 'decline');
  await turn;
  expect(completed(server)[0]?.aggregatedOutput).toMatch(
    /^from the webheddle: The user did not allow this command to reach b\.example\./,
  );
  expect(modelOutput(server)).toContain('No connection to http://b.example');
  // Each of these leaves nothing open at the end of the test.
  expect(server.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

test('requests, tunnels, SOCKS5 and refusals are as in one thread', async () => {
  const web = await startWebServer();
  const echo = await startEcho();
  const missed: string[] = [];
  const { port, proxy, log } = await startProxyWorker({
    async decide({ target, method }) {
      if (target.host === 'b.example') throw new ProxyRefusal('declined', 'No.');
      if (target.host === 'c.example') throw new Error('broken');
      return method === 'PUT' ? ['public'] : ['public', 'private'];
    },
    notReached: ({ host }, { code }) => void missed.push(`${host} ${code}`),
  });
  const line = (method: string, url: string) =>
    `${method} ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
  expect(String(await request(port, line('GET', `http://127.0.0.1:${web.port}/x`)))).toMatch(
    /^HTTP\/1\.1 200 .*GET \/x /s,
  );
  expect(String(await request(port, line('PUT', `http://127.0.0.1:${web.port}/x`)))).toMatch(
    /^HTTP\/1\.1 403 /,
  );
  expect(missed).toEqual(['127.0.0.1 local']);
  expect(String(await request(port, line('GET', 'http://b.example/')))).toMatch(
    /^HTTP\/1\.1 403 .*heddle: No\.\n/s,
  );
  expect(String(await request(port, line('GET', 'http://c.example/')))).toMatch(/^HTTP\/1\.1 502 /);
  expect(
    String(await exchange(port, `CONNECT 127.0.0.1:${echo.port} HTTP/1.1\r\n\r\n`, 'hello')),
  ).toMatch(/ Established\r\n\r\nhello$/);
  const socks = Buffer.from([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, echo.port >> 8, echo.port & 0xff]);
  expect(String((await exchange(port, socks, 'hello')).subarray(12))).toBe('hello');
  proxy.close();
  expect(await exchange(port, line('GET', `http://127.0.0.1:${web.port}/x`))).toEqual(
    Buffer.alloc(0),
  );
  expect(log.lines.filter(({ level }) => level !== 'debug').map(({ text }) => text)).toEqual([
    'the proxy of a command failed',
  ]);
});

test('a listener in the thread passes the credential that its client must give', async () => {
  const { port: web } = await startWebServer();
  const { port } = await startProxyWorker({}, 'secret');
  const url = `http://127.0.0.1:${web}/`;
  expect(await curl(url, `http://heddle:secret@127.0.0.1:${port}`)).toBe('200 0');
  expect(await curl(url, `http://heddle:other@127.0.0.1:${port}`)).toBe('407 0');
});

test('a listener that nobody serves any more closes its connections', async () => {
  const { port, listener, proxies } = await startProxyWorker();
  await listener.serve(null, null);
  expect(await exchange(port, 'GET http://127.0.0.1:1/ HTTP/1.1\r\n\r\n')).toEqual(Buffer.alloc(0));
  await expect(listener.serve(12345, null)).rejects.toThrow('the proxy of the command has ended');
  await expect(listener.serve(() => {}, null)).rejects.toThrow('own thread');
  await proxies.close();
  await expect(
    proxies.open({ socks: true, decide: async () => [], notReached: () => {} }),
  ).rejects.toThrow('the server is ending');
});

test('if the thread dies, its proxies and listeners have ended, and the next one starts another', async () => {
  const script = join(tempFolder(), 'dying.cjs');
  const dies =
    "require('node:worker_threads').parentPort.on('message', ([{ name }]) => name === 'closeProxy' && process.exit())";
  writeFileSync(script, `require(${JSON.stringify(proxyScript())});\n${dies};`);
  const { proxies, listener, proxy, port, log } = await startProxyWorker({}, null, script);
  const signals: AbortSignal[] = [];
  const waiting = await proxies.open({
    ...{ socks: true, notReached: () => {} },
    async decide(_request, signal) {
      signals.push(signal);
      return new Promise(() => {});
    },
  });
  await listener.serve(waiting.serve, null);
  const answered = request(port, 'CONNECT a.example:443 HTTP/1.1\r\n\r\n');
  await vi.waitFor(() => expect(signals).toHaveLength(1), { interval: 2, timeout: 30_000 });
  proxy.close();
  expect(await answered).toEqual(Buffer.alloc(0));
  await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true), { interval: 2, timeout: 30_000 });
  expect(log.lines.map(({ text }) => text)).toEqual([
    "the worker of commands' proxies has died; the next command starts another",
  ]);
  await expect(listener.serve(waiting.serve, null)).rejects.toThrow('has died');
  waiting.close();
  listener.close();
  const web = await startWebServer();
  const next = await proxies.open({
    socks: true,
    decide: async () => ['private'],
    notReached: () => {},
  });
  const other = await proxies.listen();
  await other.serve(next.serve, null);
  const head = `GET http://127.0.0.1:${web.port}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
  expect(String(await request(other.port, head))).toMatch(/^HTTP\/1\.1 200 /);
});

test('the thread starts at its first use only', async () => {
  const log = new RecordingLog();
  const proxies = new RemoteProxies({ script: join(tempFolder(), 'missing.cjs'), log });
  await proxies.close();
  expect(log.lines).toEqual([]);
  const other = new RemoteProxies({ script: join(tempFolder(), 'missing.cjs'), log });
  await expect(other.listen()).rejects.toThrow(
    /^the worker of commands' proxies has died \(Cannot find module/,
  );
  await other.close();
});

test('a question is withdrawn when its proxy closes', async () => {
  const signals: AbortSignal[] = [];
  const { port, proxy } = await startProxyWorker({
    decide: (_request, signal) => {
      signals.push(signal);
      return new Promise(() => {});
    },
  });
  const answered = request(port, 'CONNECT a.example:443 HTTP/1.1\r\n\r\n');
  await vi.waitFor(() => expect(signals).toHaveLength(1), { interval: 2, timeout: 30_000 });
  proxy.close();
  expect(signals[0]?.aborted).toBe(true);
  await answered;
});
