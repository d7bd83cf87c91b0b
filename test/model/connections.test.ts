import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Env } from '../../src/base/env.ts';
import type { ModelEvent } from '../../src/model/model.ts';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';
import { certificateFile } from './loopback-proxy.ts';
import {
  answered,
  answeredEvents,
  collect,
  modelAt,
  never,
  ProviderServer,
  refusing,
  request,
} from './provider-server.ts';

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a provider with a certificate of `certificates/`, and asks it once. */
async function askOverTls(certificate: string, env: Env): Promise<ModelEvent[]> {
  const tls = {
    cert: readFileSync(certificateFile(`${certificate}.pem`)),
    key: readFileSync(certificateFile(`${certificate}.key`)),
  };
  const server = createTlsServer(tls, (req, res) => answered(res, req));
  server.on('secureConnection', (socket) => onTestFinished(() => void socket.destroy()));
  const port = await listening(server);
  const { model } = modelAt(port, { baseUrl: `https://127.0.0.1:${port}/v1` }, { env });
  return collect(model.stream(request, never));
}

function failureText(events: ModelEvent[]): string | undefined {
  const last = events.at(-1);
  return last?.type === 'failed' ? last.error.message : undefined;
}

const TRUSTED = { SSL_CERT_FILE: certificateFile('ca.pem') };

test('SSL_CERT_FILE names a file with further certificate authorities', async () => {
  expect(await askOverTls('valid', TRUSTED)).toEqual(answeredEvents);
});

test('with SSL_CERT_FILE, the authorities of NODE_EXTRA_CA_CERTS count as well', async () => {
  const folder = tempFolder();
  writeFiles(folder, { 'other.pem': readFileSync(certificateFile('valid.pem'), 'utf8') });
  const env = {
    SSL_CERT_FILE: join(folder, 'other.pem'),
    NODE_EXTRA_CA_CERTS: certificateFile('ca.pem'),
  };
  expect(await askOverTls('valid', env)).toEqual(answeredEvents);
});

test.each([
  ['names no file', () => certificateFile('none.pem')],
  ['names a folder', () => import.meta.dirname],
  ['names something else than certificates', () => import.meta.filename],
  ['is empty', () => ''],
])('an untrusted certificate is refused if SSL_CERT_FILE %s', async (_, path) => {
  const text = failureText(await askOverTls('valid', { SSL_CERT_FILE: path() }));
  expect(text).toMatch(
    /certificate that is not trusted \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)\. Set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE to/,
  );
});

test('a certificate for another host is told as such', async () => {
  const text = failureText(await askOverTls('other-host', TRUSTED));
  expect(text).toMatch(
    /certificate for other host names, not for 127\.0\.0\.1 \(ERR_TLS_CERT_ALTNAME_INVALID\)\. Check the host name/,
  );
});

test('an expired certificate is told as such', async () => {
  const text = failureText(await askOverTls('expired', TRUSTED));
  expect(text).toMatch(
    /expired certificate \(CERT_HAS_EXPIRED\)\. The provider must renew it\. Check also the clock of this machine\./,
  );
});

test('a connection that takes too long is tried again like a refused one', async () => {
  // It takes connections and never answers the TLS handshake.
  const server = createServer((socket) => onTestFinished(() => void socket.destroy()));
  const port = await listening(server);
  const limits = {
    baseUrl: `https://127.0.0.1:${port}/v1`,
    connectTimeoutMs: 3_000,
    requestMaxRetries: 1,
  };
  const { model, clock } = modelAt(port, limits);
  const events = collect(model.stream(request, never));
  for (const wait of [3_000, 200, 3_000]) {
    await clock.timerOf(wait);
    clock.advance(wait);
  }
  const all = await events;
  expect(all.map(({ type }) => type)).toEqual(['started', 'retrying', 'started', 'failed']);
  expect(failureText(all)).toBe(
    `P (https://127.0.0.1:${port}/v1/responses) cannot be reached: there was no connection within 3 s, the limit set by ` +
      'connect_timeout_ms. Check base_url, and that this machine is online.',
  );
});

test('connect_timeout_ms does not limit the wait for an answer', async () => {
  const server = createTlsServer({
    cert: readFileSync(certificateFile('valid.pem')),
    key: readFileSync(certificateFile('valid.key')),
  });
  const asked = once(server, 'request') as Promise<Parameters<RequestListener>>;
  server.on('secureConnection', (socket) => onTestFinished(() => void socket.destroy()));
  const port = await listening(server);
  const { model, clock } = modelAt(
    port,
    { baseUrl: `https://127.0.0.1:${port}/v1`, connectTimeoutMs: 1_000 },
    { env: TRUSTED },
  );
  const events = collect(model.stream(request, never));
  const [req, res] = await asked;
  clock.advance(4_000);
  answered(res, req);
  expect(await events).toEqual(answeredEvents);
});

test.each([
  [404, refusing(404, 'nothing here')],
  [405, refusing(405)],
])('HTTP %i of the Responses API: the advice names wire_api = "chat"', async (status, reply) => {
  await using server = await ProviderServer.start(reply);
  expect(failureText(await collect(modelAt(server.port).model.stream(request, never)))).toMatch(
    new RegExp(`HTTP ${status}.*wire_api = "chat"`),
  );
  const { model } = modelAt(server.port, { wireApi: 'chat' });
  expect(failureText(await collect(model.stream(request, never)))).not.toContain('wire_api');
});
