import { isAbsolute } from 'node:path';
import { listPermissionProfiles } from '../../policy/permissions/permission-profile.ts';
import type { Configured } from '../config-writing/configured.ts';
import { pageByPosition } from '../requested/list-page.ts';
import { type MethodTable, unqueued } from '../requested/method.ts';

export function permissionProfileMethods({ config }: Pick<Configured, 'config'>) {
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
