import { expect, test } from 'vitest';
import { readingOnly } from '../../src/policy/permissions/complete-sandbox-policy.ts';
import { sandboxBounds } from '../../src/policy/permissions/sandbox-bounds.ts';
import type { ReadOnlyAccess, SandboxPolicy } from '../../src/protocol/generated/types.ts';

test('the read-only form of a policy keeps read access, and allows no writing and no network', () => {
  const access: ReadOnlyAccess = {
    type: 'restricted',
    readableRoots: ['/data'],
    includePlatformDefaults: true,
  };
  const held = { type: 'readOnly', networkAccess: false };
  expect(
    readingOnly({ type: 'workspaceWrite', networkAccess: true, writableRoots: ['/w'] }),
  ).toEqual(held);
  expect(readingOnly({ type: 'workspaceWrite', readOnlyAccess: access })).toEqual({
    ...held,
    access,
  });
  expect(readingOnly({ type: 'readOnly', networkAccess: true, access })).toEqual({
    ...held,
    access,
  });
  expect(readingOnly({ type: 'dangerFullAccess' })).toEqual(held);
});

test('only the user’s configuration allows unix sockets: no policy, no grant of the network, and never in a read-only sandbox', () => {
  const folders = { cwd: '/w', tempDir: null, home: '/h' };
  const granted = [{ read: [], write: [], network: true }];
  const rights = (policy: SandboxPolicy, unixSockets: boolean) => {
    const bounds = sandboxBounds(policy, folders, { granted, unixSockets });
    return [bounds?.network, bounds?.unixSockets];
  };
  expect(rights({ type: 'workspaceWrite', networkAccess: true }, false)).toEqual([true, false]);
  expect(rights({ type: 'workspaceWrite', networkAccess: true }, true)).toEqual([true, true]);
  expect(rights({ type: 'readOnly', networkAccess: true }, true)).toEqual([true, false]);
  expect(sandboxBounds({ type: 'workspaceWrite', networkAccess: true }, folders)?.unixSockets).toBe(
    false,
  );
});
