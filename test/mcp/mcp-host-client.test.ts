import { expect, onTestFinished, test } from 'vitest';
import { McpHostClient } from '../../src/mcp/mcp-host-client.ts';
import { builtScript } from '../support/built-script.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { startOauthServer } from './oauth-server.ts';

test('warnings of the library are lines of the log, cut and without secrets', async () => {
  const oauth = await startOauthServer({
    instead: (path, response) => {
      if (path === '/token')
        response.writeHead(502).end(`<html>api_key=not-for-the-log ${'x'.repeat(100_000)}`);
      return path === '/token';
    },
  });
  const log = new RecordingLog();
  const host = new McpHostClient({
    version: '1',
    log,
    env: {},
    script: builtScript('src/mcp/host/mcp.worker.ts'),
  });
  onTestFinished(() => host.close());
  const stored = {
    tokens: { access_token: 'a', token_type: 'bearer', refresh_token: 'r' },
    expiresAtMs: null,
    clients: {},
    discovery: null,
  };
  const request = {
    url: oauth.url,
    stored,
    client: { resource: null, clientId: 'c', clientSecret: null, reachesPrivate: false },
  };
  await expect(host.refreshTokens(request, new AbortController().signal)).rejects.toThrow();
  const warned = log.lines
    .filter(({ text }) => text === 'the library for MCP servers warns')
    .map(({ fields }) => String(fields.message));
  expect(warned.join('\n')).toMatch(/Could not refresh[\s\S]*api_key=\[hidden\]/);
  expect([
    warned.join('').includes('not-for-the-log'),
    warned.every(({ length }) => length <= 500),
  ]).toEqual([false, true]);
});
