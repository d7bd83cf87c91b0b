import { expect, test, vi } from 'vitest';
import { SessionGrants } from '../../../src/policy/permissions/session-grants.ts';
import { ApplyPatch } from '../../../src/tools/apply-patch/apply-patch.ts';
import { PinnedFolders } from '../../../src/tools/apply-patch/pinned-folders.ts';
import { tempFolder } from '../../config/temp-folder.ts';
import { settings } from '../../store/samples.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { folderWith, patchOf } from './apply-to-files.ts';

test('a patch whose folders cannot be closed does not block the next one', async () => {
  const cwd = folderWith({});
  const applyPatch = new ApplyPatch({
    clock: new FakeClock(),
    home: tempFolder(),
    env: {},
    sandbox: { protects: async () => () => null },
    unprotected: () => [],
  });
  const ids = { threadId: 'thread', turnId: 'turn', callId: 'call', itemId: 'call' };
  const context = {
    ...ids,
    settings: { ...settings, cwd },
    grants: new SessionGrants(),
    signal: new AbortController().signal,
  };
  const add = { patch: patchOf('*** Add File: a.txt', '+a'), folder: '.' };
  const first = await applyPatch.prepare(add, context);
  vi.spyOn(PinnedFolders.prototype, 'close').mockRejectedValueOnce(new Error('EIO'));
  await expect('close' in first && first.close?.()).rejects.toThrow('EIO');
  const second = await applyPatch.prepare(add, context);
  expect(second).toMatchObject({ kind: 'patch' });
  await ('close' in second && second.close?.());
});
