import { chmodSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { DoctorCheck } from '../../src/cli/doctor/doctor-check.ts';
import { type DoctorOptions, runDoctor } from '../../src/cli/doctor/run-doctor.ts';
import { tempFolder } from '../config/temp-folder.ts';

const ROOT = dirname(dirname(import.meta.dirname));

async function doctor(files: Record<string, string>, options: Partial<DoctorOptions> = {}) {
  const home = tempFolder(files);
  let text = '';
  const isWell = await runDoctor(
    {
      home,
      homeSource: 'HEDDLE_HOME',
      cwd: home,
      env: { PATH: '/usr/bin:/bin' },
      overrides: [],
      systemDir: null,
      json: true,
      version: '0.0.1',
      platform: process.platform,
      nodeVersions: process.versions,
      installation: { manifest: join(ROOT, 'package.json'), executable: process.execPath },
      ...options,
    },
    (part) => {
      text += part;
    },
  );
  const json = options.json === false ? null : (JSON.parse(text) as { ok: boolean; checks: DoctorCheck[] });
  const check = (name: DoctorCheck['name']) => json?.checks.find((one) => one.name === name);
  return { home, isWell, text, json, check };
}

/** A provider that answers every request with this status. */
async function answering(status: number): Promise<string> {
  const server = createServer((_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"data": []}'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const provider = (url: string) => ({
  'config.toml': `model = "m"\nmodel_provider = "p"\n[model_providers.p]\nbase_url = "${url}"\nenv_key = "P_KEY"\n`,
});

describe('heddle doctor', () => {
  test('says what a server finds, with one thing to do for each problem', async () => {
    const { home, isWell, text } = await doctor({ 'config.toml': 'model = "gpt-5.5"\nsandbox_mode = "readonly"\n' }, { json: false });
    expect(isWell).toBe(false);
    expect(text).toContain(`Home: ${home} (HEDDLE_HOME)\nConfiguration: ${join(home, 'config.toml')}\n`);
    expect(text).toContain(`  error: invalid config: ${join(home, 'config.toml')}:2:1: sandbox_mode: expected one of`);
    expect(text).toContain('    To do: Correct the value in this line.\n');
    expect(text).toContain('  warning: gpt-5.5 does not answer in this thread: ');
    expect(text.match(/To do:/g)).toHaveLength(2);
    expect(text).toMatch(/\n2 problems were found\.\n$/);
  });

  test('gives the layers, and the lines of problems, as JSON', async () => {
    const { home, check, json } = await doctor(
      { 'config.toml': 'profile = "p"\nmodel_provider = "scripted"\n', 'p.config.toml': '\nweb_search = 5\n' },
      { overrides: ['model_verbosity=low'] },
    );
    expect(json?.ok).toBe(false);
    expect(check('configuration')).toMatchObject({
      facts: {
        layers: [
          { type: 'user', source: join(home, 'config.toml'), profile: null, inForce: true },
          { type: 'user', source: join(home, 'p.config.toml'), profile: 'p' },
          { type: 'sessionFlags', source: 'given on the command line' },
        ],
      },
      problems: [{ severity: 'error', file: join(home, 'p.config.toml'), line: 2, column: 1, fix: 'Correct the value in this line.' }],
    });
  });

  test('of a new home has no error, and changes nothing', async () => {
    const { home, isWell, check } = await doctor({});
    expect(isWell).toBe(true);
    expect(check('provider')).toMatchObject({
      facts: { provider: 'scripted', model: 'scripted', url: null },
      problems: [{ severity: 'warning', message: 'No model provider is configured: the embedded model answers, offline.' }],
    });
    expect(readdirSync(home)).toEqual([]);
  });

  test.each([
    [200, true],
    [404, true],
    [401, false],
    [503, false],
  ])('a provider that answers with %i', async (status, isReachable) => {
    const url = await answering(status);
    const { check, isWell, text } = await doctor(provider(url), { env: { PATH: '/usr/bin:/bin', P_KEY: 'sk-secret-0123456789' } });
    expect(check('provider')?.facts).toMatchObject({ provider: 'p', url, key: 'P_KEY', reachable: isReachable });
    expect(isWell).toBe(isReachable);
    expect(text).not.toContain('sk-secret');
  });

  test('a provider that does not answer, and one without its key', async () => {
    const silent = await doctor(provider('http://127.0.0.1:9/v1'), { env: { P_KEY: 'k' } });
    expect(silent.check('provider')?.problems[0]?.message).toContain('cannot be reached');
    const keyless = await doctor(provider('http://127.0.0.1:9/v1'));
    expect(keyless.check('provider')?.problems[0]?.message).toContain('set the environment variable P_KEY');
    const { 'config.toml': text } = provider('http://127.0.0.1:9/v1');
    const headed = await doctor({ 'config.toml': `${text}http_headers = { Authorization = "Bearer x" }\n` });
    expect(headed.check('provider')?.facts).toMatchObject({ key: 'config.toml' });
  });

  test('a file that cannot be read leaves the other checks', async () => {
    const { check } = await doctor({ 'config.toml': 'model = [' });
    expect(check('configuration')).toMatchObject({ summary: 'cannot be read', problems: [{ severity: 'error', line: 1 }] });
    expect(check('provider')?.summary).toBe('unknown, because the configuration cannot be read');
    expect(check('git')?.problems).toEqual([]);
  });

  test('a key that others can read, programs that are missing, certificates that are not there', async () => {
    const files = {
      'auth.json': '{"OPENAI_API_KEY": "sk-stored-0123456789"}',
      'config.toml': 'model_provider = "scripted"\n[mcp_servers.a]\ncommand = "no-such-program"\n',
    };
    const env = { PATH: '/nowhere', SSL_CERT_FILE: '/no/such.pem', HTTPS_PROXY: 'http://user:secret@proxy.example:1' };
    const home = tempFolder(files);
    chmodSync(join(home, 'auth.json'), 0o644);
    const { check, text } = await doctor({}, { home, env });
    expect(check('home')?.problems).toMatchObject([{ severity: 'warning', fix: `Run: chmod 600 ${join(home, 'auth.json')}` }]);
    expect(check('git')?.problems).toMatchObject([{ fix: 'Install git.' }]);
    expect(check('mcpServers')).toMatchObject({
      facts: { servers: ['a'] },
      problems: [{ fix: 'Install it, or correct mcp_servers.a.command in config.toml.' }],
    });
    expect(check('proxies')).toMatchObject({
      facts: { HTTPS_PROXY: 'http://proxy.example:1' },
      problems: [{ fix: 'Correct SSL_CERT_FILE, or remove it.' }],
    });
    expect(text).not.toContain('secret');
    expect(text).not.toContain('sk-stored');
  });

  test('a system without a sandbox', async () => {
    const { check } = await doctor({}, { platform: 'win32' });
    expect(check('sandbox')).toMatchObject({ facts: { sandbox: null }, problems: [{ severity: 'error' }] });
  });
});
