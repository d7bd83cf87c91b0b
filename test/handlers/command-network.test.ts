import { expect, test } from 'vitest';
import { startServer } from '../support/test-server.ts';
import { dialToWebServer, MANAGED_CONFIG } from '../tools/network/managed-server.ts';

const CONFIG = `${MANAGED_CONFIG}[features.network_proxy.domains]\n"a.example" = "allow"\n`;
const RULE = 'network_rule(host="b.example", protocol="http", decision="allow")\n';
const FETCH = ['sh', '-c', 'for host in a b c; do curl -sS http://$host.example/; done'];

test('command/exec reaches what the configuration and the rules allow, and nobody is asked about other hosts', async () => {
  const { dial, reached } = await dialToWebServer();
  const server = await startServer({ config: CONFIG, files: { 'home/rules/x.rules': RULE }, dial });
  const { exitCode, stdout } = await server.client.request('command/exec', { command: FETCH });
  expect([exitCode, stdout]).toEqual([
    0,
    'GET / a.example GET / b.example heddle: Nothing allows c.example yet. Nobody is asked about commands that a client starts itself.\n',
  ]);
  expect(reached).toEqual(['http://a.example:80', 'http://b.example:80']);
  expect(
    server.client.messages.filter(({ method, id }) => method !== undefined && id !== undefined),
  ).toEqual([]);
});

test('the sandbox of command/exec decides whether its network is managed', async () => {
  const { dial, reached } = await dialToWebServer();
  const profile =
    '[permissions.p]\nextends = ":workspace"\n[permissions.p.network]\nenabled = true\nmode = "limited"\n';
  const config = `${MANAGED_CONFIG.replace('enabled = true', 'enabled = false')}${profile}`;
  const server = await startServer({ config, dial });
  const command = ['sh', '-c', 'echo "[$HTTP_PROXY$CODEX_SANDBOX_NETWORK_DISABLED]"'];
  const shown = async (params: object) =>
    (await server.client.request('command/exec', { command, ...params })).stdout;
  expect(await shown({})).toBe('[]\n');
  expect(await shown({ permissionProfile: 'p' })).toBe('[http://127.0.0.1:3128]\n');
  expect(await shown({ permissionProfile: ':workspace' })).toBe('[1]\n');
  expect(await shown({ permissionProfile: ':danger-full-access' })).toBe('[]\n');
  expect(reached).toEqual([]);
});

test('process/spawn is not confined, so it uses the network directly', async () => {
  const server = await startServer({ config: CONFIG });
  const command = ['sh', '-c', 'echo "[$HTTP_PROXY]"'];
  await server.client.request('process/spawn', {
    command,
    cwd: server.cwd,
    processHandle: 'p',
    env: { HTTP_PROXY: null },
  });
  expect(await server.client.waitFor('process/exited')).toMatchObject({
    exitCode: 0,
    stdout: '[]\n',
  });
});
