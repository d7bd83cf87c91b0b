import { isAbsolute } from 'node:path';
import type { Config } from '../../config/config.ts';
import { listPermissionProfiles } from '../../policy/permissions/permission-profile.ts';
import { pageByPosition } from '../requested/list-page.ts';
import { type MethodTable, unqueued } from '../requested/method.ts';

interface PermissionProfileDeps {
  config: (cwd?: string | null) => Promise<Config>;
}

export function permissionProfileMethods({ config }: PermissionProfileDeps) {
  return {
    'permissionProfile/list': {
      order: unqueued,
      async handle({ cursor, limit, cwd = null }) {
        const profiles = listPermissionProfiles(
          await config(cwd !== null && isAbsolute(cwd) ? cwd : null),
        );
        return pageByPosition(profiles, { cursor, limit });
      },
    },
  } satisfies Partial<MethodTable>;
}
