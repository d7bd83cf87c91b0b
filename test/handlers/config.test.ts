import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer } from '../support/test-server.ts';

test('config/read gives what is in effect, and where it comes from', async () => {
  const { client, home } = await startServer({ overrides: ['model=over'], config: 'model = "m"\nmodel_provider = "scripted"\n' });
  const { config, origins, layers } = await client.request('config/read', {});
  expect(config).toMatchObject({ model: 'over', model_provider: 'scripted', sandbox_mode: null, approvals_reviewer: null });
  expect(origins).toEqual({
    model: { name: { type: 'sessionFlags' }, version: expect.any(String) },
    model_provider: { name: { type: 'user', file: join(home, 'config.toml'), profile: null }, version: expect.any(String) },
  });
  expect(layers).toBe(null);
});

test('config/read gives the layers when they are asked for, the strongest first', async () => {
  const { client } = await startServer({ overrides: ['model=over'], config: 'model = "m"\n' });
  const { layers } = await client.request('config/read', { includeLayers: true });
  expect(layers?.map(({ name, config }) => [name.type, config])).toEqual([
    ['sessionFlags', { model: 'over' }],
    ['user', { model: 'm' }],
  ]);
});

test('config/read keeps experimental fields from clients that have not asked for them', async () => {
  const { client } = await startServer({ capabilities: null, config: 'approvals_reviewer = "auto_review"\nmodel_provider = "scripted"\n' });
  const { config } = await client.request('config/read', {});
  expect('approvals_reviewer' in config).toBe(false);
});

test('config/read of a broken file is refused, and names it', async () => {
  const { client, home } = await startServer({ config: 'model = [' });
  expect(await client.refusal('config/read', {})).toEqual({
    code: -32600,
    message: expect.stringContaining(join(home, 'config.toml')),
    data: { code: 'config_invalid' },
  });
});

test('configRequirements/read says that there are none, with and without params', async () => {
  const { client } = await startServer();
  const none = { requirements: null, supportsIndependentSpeedModes: null };
  expect(await client.call('configRequirements/read')).toEqual(none);
  expect(await client.call('configRequirements/read', {})).toEqual(none);
  expect(await client.call('configRequirements/read', null)).toEqual(none);
});
