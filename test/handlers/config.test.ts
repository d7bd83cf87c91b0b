import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer } from '../support/test-server.ts';

test('config/read returns the values in effect, and their origins', async () => {
  const { client, home } = await startServer({
    overrides: ['model=over'],
    config: 'model = "m"\nmodel_provider = "scripted"\n',
  });
  const { config, origins, layers } = await client.request('config/read', {});
  expect(config).toMatchObject({
    model: 'over',
    model_provider: 'scripted',
    sandbox_mode: null,
    approvals_reviewer: null,
  });
  expect(origins).toEqual({
    model: { name: { type: 'sessionFlags' }, version: expect.any(String) },
    model_provider: {
      name: { type: 'user', file: join(home, 'config.toml'), profile: null },
      version: expect.any(String),
    },
  });
  expect(layers).toBe(null);
});

test('config/read returns the layers if asked, in the order of precedence', async () => {
  const { client } = await startServer({ overrides: ['model=over'], config: 'model = "m"\n' });
  const { layers } = await client.request('config/read', { includeLayers: true });
  expect(layers?.map(({ name, config }) => [name.type, config])).toEqual([
    ['sessionFlags', { model: 'over' }],
    ['user', { model: 'm' }],
  ]);
});

test('config/read leaves out experimental fields for clients without the experimental API', async () => {
  const { client } = await startServer({
    capabilities: null,
    config: 'approvals_reviewer = "auto_review"\nmodel_provider = "scripted"\n',
  });
  const { config } = await client.request('config/read', {});
  expect('approvals_reviewer' in config).toBe(false);
});

test('config/read is refused for an invalid file, and names it', async () => {
  const { client, home } = await startServer({ config: 'model = [' });
  expect(await client.refusal('config/read', {})).toEqual({
    code: -32600,
    message: expect.stringContaining(join(home, 'config.toml')),
    data: { code: 'config_invalid' },
  });
});

test('configRequirements/read returns no requirements, with and without params', async () => {
  const { client } = await startServer();
  const none = { requirements: null, supportsIndependentSpeedModes: null };
  expect(await client.call('configRequirements/read')).toEqual(none);
  expect(await client.call('configRequirements/read', {})).toEqual(none);
  expect(await client.call('configRequirements/read', null)).toEqual(none);
});
