import { expect, test } from 'vitest';
import { readingOnly } from '../../src/policy/permissions/complete-sandbox-policy.ts';
import type { ReadOnlyAccess } from '../../src/protocol/generated/types.ts';

test('the read-only form of a policy keeps read access, and allows no writing and no network', () => {
  const access: ReadOnlyAccess = { type: 'restricted', readableRoots: ['/data'], includePlatformDefaults: true };
  const held = { type: 'readOnly', networkAccess: false };
  expect(readingOnly({ type: 'workspaceWrite', networkAccess: true, writableRoots: ['/w'] })).toEqual(held);
  expect(readingOnly({ type: 'workspaceWrite', readOnlyAccess: access })).toEqual({ ...held, access });
  expect(readingOnly({ type: 'readOnly', networkAccess: true, access })).toEqual({ ...held, access });
  expect(readingOnly({ type: 'dangerFullAccess' })).toEqual(held);
});
