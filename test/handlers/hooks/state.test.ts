import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hooksJson } from '../../agent/hooks/hook-server.ts';
import { idOf } from '../../support/counting-ids.ts';
import { startServer, type TestServer, type TestServerOptions } from '../../support/test-server.ts';
import { FREE_CONFIG } from '../../tools/command-server.ts';

const TRUE = hooksJson({ PreToolUse: [{ command: 'true' }] });
const HOOK = 'home/hooks.json:pre_tool_use:0:0';

/** A server whose config.toml has this state of the one hook of its home. */
async function withState(
  state: string,
  options: (name: string) => TestServerOptions = () => ({}),
): Promise<TestServer> {
  const first = await startServer({ files: { 'home/hooks.json': TRUE } });
  const name = `hooks.state.${JSON.stringify(join(first.folder, HOOK))}`;
  return first.restart({ config: `${FREE_CONFIG}[${name}]\n${state}\n`, ...options(name) });
}

async function listed({ client, cwd }: TestServer) {
  const { data } = await client.request('hooks/list', { cwds: [cwd] });
  return { hooks: data[0]?.hooks ?? [], warnings: data[0]?.warnings ?? [] };
}

const summaries = ({ client }: TestServer) =>
  client.notifications('configWarning').map(({ summary }) => summary);

describe('a hook that has changed since the user trusted it', () => {
  test('is named in a configWarning, which has its hash', async () => {
    const server = await withState('trusted_hash = "sha256:0"');
    const { hooks, warnings } = await listed(server);
    expect(hooks).toMatchObject([{ trustStatus: 'modified' }]);
    const key = hooks[0]?.key;
    expect(warnings).toEqual([
      `${join(server.home, 'hooks.json')}: the hook ${key} has changed since you trusted it, so it does not run. ` +
        `If you trust it as it is now, set hooks.state.${JSON.stringify(key)}.trusted_hash = "${hooks[0]?.currentHash}" in config.toml.`,
    ]);
    await expect.poll(() => summaries(server)).toEqual(warnings);
  });

  test('is not named if it is switched off', async () => {
    const server = await withState('trusted_hash = "sha256:0"\nenabled = false');
    expect(await listed(server)).toMatchObject({
      hooks: [{ trustStatus: 'modified', enabled: false }],
      warnings: [],
    });
  });

  test('is named in a warning of thread/start if a trusted project defines it', async () => {
    const own = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n';
    const files = { 'work/.git/HEAD': 'ref: refs/heads/main\n', 'work/.codex/config.toml': own };
    const first = await startServer({ files, config: FREE_CONFIG });
    const path = join(first.cwd, '.codex/config.toml');
    const state = `[hooks.state.${JSON.stringify(`${path}:stop:0:0`)}]\ntrusted_hash = "sha256:0"\n`;
    const trust = `[projects.${JSON.stringify(first.cwd)}]\ntrust_level = "trusted"\n`;
    const server = await first.restart({ config: `${FREE_CONFIG}${trust}${state}` });
    await server.client.request('thread/start', {});
    const told = server.client.notifications('warning').map(({ message }) => message);
    expect(told).toEqual([
      expect.stringContaining(
        `${path}: the hook ${path}:stop:0:0 has changed since you trusted it`,
      ),
    ]);
  });
});

describe('the states of a hook in several layers', () => {
  test('are merged: a hash on the command line leaves the hook switched off', async () => {
    const server = await withState('enabled = false', (name) => ({
      overrides: [`${name}.trusted_hash="sha256:0"`],
    }));
    expect(await listed(server)).toMatchObject({
      hooks: [{ trustStatus: 'modified', enabled: false }],
    });
  });

  test('are merged: enabled of a request leaves the hash', async () => {
    const server = await withState('trusted_hash = "sha256:0"');
    const state = { [join(server.home, 'hooks.json:pre_tool_use:0:0')]: { enabled: true } };
    await server.client.request('thread/start', { config: { hooks: { state } } });
    const { data } = await server.client.request('hooks/list', { threadId: idOf(1) });
    expect(data).toMatchObject([{ hooks: [{ trustStatus: 'modified', enabled: true }] }]);
  });
});

describe('a state without effect is named', () => {
  test.each([
    ['enable = false', '"enable" is ignored, because it is not a known key. Did you mean enabled?'],
    [
      'enabled = "no"',
      'expected a table with enabled = true or false and trusted_hash = "sha256:…"',
    ],
  ])('%s', async (state, problem) => {
    const server = await withState(state);
    const { hooks, warnings } = await listed(server);
    expect(hooks).toMatchObject([{ enabled: true }]);
    const key = JSON.stringify(hooks[0]?.key);
    expect(warnings).toEqual([
      `${join(server.home, 'config.toml')}: hooks.state.${key}: ${problem}`,
    ]);
    await expect.poll(() => summaries(server)).toEqual(warnings);
  });

  test('a value that is no table', async () => {
    const server = await startServer({ config: `hooks.state = 5\n${FREE_CONFIG}` });
    expect((await listed(server)).warnings).toEqual([
      `${join(server.home, 'config.toml')}: hooks.state: expected a table`,
    ]);
  });

  test('the key of no hook; keys of other projects and profiles are no mistake', async () => {
    const first = await startServer({ files: { 'home/hooks.json': TRUE } });
    const path = join(first.home, 'hooks.json');
    const [unknown, gone] = ['PreToolUse', `${path}:pre_tool_use:7:0`];
    const others = [
      '/elsewhere/.codex/hooks.json:stop:0:0',
      `${join(first.home, 'config.toml')}:profiles.other:stop:0:0`,
    ];
    const states = [unknown, gone, ...others].map(
      (key) => `[hooks.state.${JSON.stringify(key)}]\nenabled = false\n`,
    );
    const server = await first.restart({ config: FREE_CONFIG + states.join('') });
    const told = [unknown, gone].map(
      (key) =>
        `${join(server.home, 'config.toml')}: hooks.state.${JSON.stringify(key)} has no effect, because no hook has this key. ` +
        'hooks/list has the keys.',
    );
    expect((await listed(server)).warnings).toEqual(told);
    expect(summaries(server)).toEqual(told);
  });

  test('config/value/write warns of a hook that does not run any more, and writes', async () => {
    const server = await withState('enabled = true');
    const key = (await listed(server)).hooks[0]?.key ?? '';
    const keyPath = `hooks.state.${JSON.stringify(key)}.trusted_hash`;
    await server.client.request('config/value/write', {
      keyPath,
      value: 'sha256:0',
      mergeStrategy: 'replace',
    });
    expect(summaries(server)).toEqual([
      expect.stringContaining('has changed since you trusted it, so it does not run'),
    ]);
  });
});
