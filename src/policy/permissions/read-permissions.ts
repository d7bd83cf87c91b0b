import { isAbsolute, join, resolve, sep } from 'node:path';
import { isWithin } from '../../base/is-within.ts';
import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import type { AdditionalPermissionProfile, GrantedPermissionProfile } from '../../protocol/generated/types.ts';
import { HOME_KEPT, isOfHome } from './home-readable.ts';
import { type GrantedPermissions, isProtectedName } from './sandbox-bounds.ts';

/** How many files and folders one request may name. */
const PATHS_MAX = 64;

/** The part of a tool's parameters by which the model asks for permissions. */
export const PERMISSIONS_PARAMETER: JsonObject = {
  type: 'object',
  description: 'What is needed beyond the sandbox, and no more than that.',
  properties: {
    file_system: {
      type: 'object',
      properties: {
        read: { type: 'array', items: { type: 'string' }, description: 'Files or folders to read.' },
        write: { type: 'array', items: { type: 'string' }, description: 'Files or folders to write; they can be read as well.' },
      },
      additionalProperties: false,
    },
    network: {
      type: 'object',
      properties: { enabled: { type: 'boolean', description: 'True to reach the network.' } },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};

/**
 * The permissions that the model asks for, all paths absolute: relative ones are taken from `cwd`, `~/` from `userHome`. A
 * text says to the model what is wrong with what it asks for.
 */
export function readPermissions(
  value: JsonValue | undefined,
  { cwd, userHome }: { cwd: string; userHome: string | null },
): GrantedPermissions | string {
  if (!isObject(value)) return 'needs `permissions`: {file_system: {read, write}, network: {enabled}}';
  const { file_system: files = null, network = null } = value as JsonObject;
  if (files !== null && !isObject(files)) return 'needs `file_system` to be an object with lists `read` and `write`';
  if (network !== null && !isObject(network)) return 'needs `network` to be an object with `enabled`';
  const { read = null, write = null } = (files ?? {}) as JsonObject;
  const toAbsolute = (path: string) => (path.startsWith('~/') && userHome !== null ? join(userHome, path.slice(2)) : resolve(cwd, path));
  const [reads, writes] = [paths(read, toAbsolute), paths(write, toAbsolute)];
  if (reads === null || writes === null) return 'needs `read` and `write` to be lists of paths';
  if (reads.length + writes.length > PATHS_MAX) return `can ask for ${PATHS_MAX} paths at most`;
  const enabled = network !== null && (network as JsonObject).enabled === true;
  if (reads.length + writes.length === 0 && !enabled) return 'needs at least one permission to ask for';
  return { read: reads, write: writes, network: enabled };
}

/** Null: it is no list of paths. */
function paths(value: JsonValue, toAbsolute: (path: string) => string): string[] | null {
  if (value === null) return [];
  if (!Array.isArray(value)) return null;
  const texts = value.filter((path) => typeof path === 'string' && path !== '' && !path.includes('\0')) as string[];
  return texts.length === value.length ? [...new Set(texts.map(toAbsolute))] : null;
}

/** Why a file or folder never becomes writable by a permission, for the model to read; null where it may. No links in either. */
export function protectedWrite(path: string, home: string): string | null {
  const name = path.split(sep).find((part) => isProtectedName(part.toLowerCase()));
  if (name !== undefined) return `cannot make ${path} writable: ${name} is protected in the sandbox`;
  const isHomes = path === home || isOfHome(path, home, HOME_KEPT);
  return isHomes ? `cannot make ${path} writable: it belongs to the server's home` : null;
}

/** Permissions as clients see them. */
export function shownPermissions({ read, write, network }: GrantedPermissions): AdditionalPermissionProfile {
  const entries = [
    ...read.map((path) => ({ path: { type: 'path' as const, path }, access: 'read' as const })),
    ...write.map((path) => ({ path: { type: 'path' as const, path }, access: 'write' as const })),
  ];
  return {
    network: network ? { enabled: true } : null,
    fileSystem:
      entries.length === 0 ? null : { read: read.length === 0 ? null : [...read], write: write.length === 0 ? null : [...write], entries },
  };
}

/** What a client's answer grants, whether that was asked for or not. What is denied, or said in patterns, is not granted. */
export function answeredPermissions({ network, fileSystem }: GrantedPermissionProfile): GrantedPermissions {
  const granted = (access: 'read' | 'write') => {
    const entries = (fileSystem?.entries ?? []).filter((entry) => entry.access === access);
    const named = entries.flatMap(({ path }) => (path.type === 'path' ? [path.path] : []));
    const all = [...(fileSystem?.[access] ?? []), ...named];
    return [...new Set(all.filter((path) => isAbsolute(path) && !path.includes('\0')).map((path) => resolve(path)))];
  };
  return { read: granted('read'), write: granted('write'), network: network?.enabled === true };
}

/** The part of an answer that was asked for: the same places, or what lies in them. To write is also to read. */
export function commonPermissions(asked: GrantedPermissions, answered: GrantedPermissions): GrantedPermissions {
  const within = (roots: readonly string[]) => (path: string) => roots.some((root) => isWithin(path, root));
  return {
    read: answered.read.filter(within([...asked.read, ...asked.write])),
    write: answered.write.filter(within(asked.write)),
    network: asked.network && answered.network,
  };
}
