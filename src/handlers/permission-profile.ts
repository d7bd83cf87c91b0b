import { isAbsolute } from 'node:path';
import type { Config } from '../config/config.ts';
import { listPermissionProfiles } from '../policy/permissions/permission-profile.ts';
import { invalidCursor } from '../protocol/rpc-error.ts';
import type { MethodTable } from './method.ts';

interface PermissionProfileDeps {
  config: (cwd?: string | null) => Promise<Config>;
}

export function permissionProfileMethods({ config }: PermissionProfileDeps) {
  return {
    'permissionProfile/list': {
      queue: null,
      async handle({ cursor = null, limit, cwd = null }) {
        const profiles = listPermissionProfiles(await config(cwd !== null && isAbsolute(cwd) ? cwd : null));
        const start = cursor === null ? 0 : placeOf(cursor, profiles.length);
        const end = start + (limit == null ? profiles.length : Math.max(limit, 1));
        return { data: profiles.slice(start, end), nextCursor: end < profiles.length ? String(end) : null };
      },
    },
  } satisfies Partial<MethodTable>;
}

/** A cursor is how many profiles came before. Throws for what is no such number. */
function placeOf(cursor: string, count: number): number {
  const place = /^\d{1,9}$/.test(cursor) ? Number(cursor) : -1;
  if (place < 0 || place > count) throw invalidCursor(cursor);
  return place;
}
