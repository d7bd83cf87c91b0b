import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer } from '../support/test-server.ts';

const UNKNOWN = '01a1ffd0-7494-7cf2-8b40-05c9845c495d';

test('experimentalFeature/list has each feature with its stage, in pages', async () => {
  const { client } = await startServer();
  const all = await client.request('experimentalFeature/list', {});
  expect(all.nextCursor).toBe(null);
  expect(all.data).toContainEqual({
    name: 'guardian_approval',
    stage: 'deprecated',
    displayName: null,
    description: 'Use approvals_reviewer = "guardian_subagent" instead.',
    announcement: null,
    enabled: false,
    defaultEnabled: false,
  });
  expect(new Set(all.data.map(({ stage }) => stage))).toEqual(
    new Set(['beta', 'stable', 'deprecated']),
  );
  const first = await client.request('experimentalFeature/list', { limit: 2 });
  const second = await client.request('experimentalFeature/list', {
    limit: 2,
    cursor: first.nextCursor,
  });
  expect([...first.data, ...second.data]).toEqual(all.data.slice(0, 4));
  expect(await client.refusal('experimentalFeature/list', { cursor: 'x' })).toMatchObject({
    data: { code: 'invalid_cursor' },
  });
});

test('experimentalFeature/list says what the configuration switched, also for a loaded thread', async () => {
  const { client } = await startServer({
    config:
      '[features]\nshell_tool = false\ngoals = "no"\n[features.network_proxy]\nmode = "full"\n',
  });
  const enabled = async (params = {}) => {
    const { data } = await client.request('experimentalFeature/list', params);
    return Object.fromEntries(data.map((feature) => [feature.name, feature.enabled]));
  };
  expect(await enabled()).toMatchObject({
    shell_tool: false,
    network_proxy: true,
    multi_agent: true,
    goals: true,
  });
  const { thread } = await client.request('thread/start', {
    config: { 'features.multi_agent': false, 'features.goals': true },
  });
  expect(await enabled({ threadId: thread.id })).toMatchObject({
    shell_tool: false,
    multi_agent: false,
  });
  const refused = await client.refusal('experimentalFeature/list', { threadId: UNKNOWN });
  expect(refused).toMatchObject({ data: { code: 'thread_not_found' } });
});

test('experimentalFeature/enablement/set switches features of later threads, unless the configuration sets them', async () => {
  const { client } = await startServer({ config: '[features]\nshell_tool = false\n' });
  const enablement = { goals: false, shell_tool: true, apps: true };
  const answer = await client.request('experimentalFeature/enablement/set', { enablement });
  expect(answer).toEqual({ enablement: { goals: false, shell_tool: true } });
  const { data } = await client.request('experimentalFeature/list', {});
  const enabled = Object.fromEntries(data.map((feature) => [feature.name, feature.enabled]));
  expect(enabled).toMatchObject({ goals: false, shell_tool: false });
  const { thread } = await client.request('thread/start', {});
  expect(await client.refusal('thread/goal/get', { threadId: thread.id })).toMatchObject({
    data: { code: 'goals_disabled' },
  });
  const unknown = await client.waitFor('configWarning', ({ summary }) => summary.includes('apps'));
  expect(unknown.summary).toMatch(
    /^These features were not switched, because heddle does not have them: apps\. It has: .*goals/,
  );
  const kept = await client.waitFor('configWarning', ({ summary }) =>
    summary.includes('features.shell_tool'),
  );
  expect(kept.summary).toMatch(
    /^These features stay as the configuration sets them: features\.shell_tool\./,
  );
});

test('experimentalFeature/enablement/set is in force for the requests behind it', async () => {
  const { client, home } = await startServer();
  const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] };
  writeFileSync(join(home, 'hooks.json'), JSON.stringify({ hooks }));
  const set = (goals: boolean) =>
    client.request('experimentalFeature/enablement/set', { enablement: { goals } });
  const sent = [
    set(false),
    client.request('experimentalFeature/list', {}),
    client.request('thread/start', {}),
    set(true),
  ] as const;
  const [, { data }, { thread }] = await Promise.all(sent);
  expect(data.find(({ name }) => name === 'goals')).toMatchObject({ enabled: false });
  expect(await client.refusal('thread/goal/get', { threadId: thread.id })).toMatchObject({
    data: { code: 'goals_disabled' },
  });
});

test('experimentalFeature/enablement/set does not switch what the administrator requires, and says so', async () => {
  const system = { 'requirements.toml': '[features]\ngoals = false\nnetwork_proxy = true\n' };
  const { client } = await startServer({ system });
  await client.request('experimentalFeature/enablement/set', {
    enablement: { goals: true, network_proxy: false, hooks: false },
  });
  const { summary } = await client.waitFor('configWarning', ({ summary: told }) =>
    told.includes('features.goals'),
  );
  expect(summary).toMatch(
    /^These features stay as .*requirements\.toml requires them: features\.goals, features\.network_proxy\.$/,
  );
  const { data } = await client.request('experimentalFeature/list', {});
  const enabled = Object.fromEntries(data.map((feature) => [feature.name, feature.enabled]));
  expect(enabled).toMatchObject({ goals: false, network_proxy: true, hooks: false });
});

test('experimentalFeature/enablement/set switches nothing if the configuration cannot be read', async () => {
  const { client, home } = await startServer();
  writeFileSync(join(home, 'config.toml'), 'x = [');
  const refused = await client.refusal('experimentalFeature/enablement/set', {
    enablement: { goals: false },
  });
  expect(refused).toMatchObject({ data: { code: 'config_invalid' } });
  writeFileSync(join(home, 'config.toml'), '');
  const { data } = await client.request('experimentalFeature/list', {});
  expect(data.find(({ name }) => name === 'goals')).toMatchObject({ enabled: true });
});
