import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CLIENT_INFO } from '../support/test-client.ts';
import { tempFolder } from './temp-folder.ts';

test('the folder for all users is the first one that exists', async () => {
  const { systemDir } = await vi.importActual<
    typeof import('../../src/config/requirements/system-dir.ts')
  >('../../src/config/requirements/system-dir.ts');
  const folder = tempFolder();
  expect(systemDir([join(folder, 'missing'), folder, tempFolder()])).toBe(folder);
  expect(systemDir([join(folder, 'missing')])).toBeNull();
});

test('the limits for all users hold for a server in a process of another program', async () => {
  const folder = tempFolder({ 'requirements.toml': 'allowed_sandbox_modes = ["read-only"]\n' });
  vi.doMock('../../src/config/requirements/system-dir.ts', () => ({ systemDir: () => folder }));
  const { createAppServer } = await import('../../src/index.ts');
  const server = createAppServer({ home: tempFolder(), env: {} });
  onTestFinished(async () => void (await server.close()));
  const client = server.connectClient();
  await client.initialize({ clientInfo: CLIENT_INFO });
  const { requirements } = await client.request('configRequirements/read', undefined);
  expect(requirements).toMatchObject({ allowedSandboxModes: ['read-only'] });
});
