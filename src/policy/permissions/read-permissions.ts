import { isAbsolute, join, resolve, sep } from 'node:path';
import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import type {
  AdditionalPermissionProfile,
  GrantedPermissionProfile,
} from '../../protocol/generated/types.ts';
import { HOME_PROTECTED, isOfHome } from './home-readable.ts';
import { type GrantedPermissions, isProtectedName } from './sandbox-bounds.ts';

/** The most files and folders that one request may name. */
const PATHS_MAX = 64;

/** The schema of the tool parameter by which the model asks for permissions. */
export const PERMISSIONS_PARAMETER: JsonObject = {
  type: 'object',
  description: 'The permissions that you need beyond the sandbox. Ask for no more than you need.',
  properties: {
    file_system: {
      type: 'object',
      properties: {
        read: {
          type: 'array',
          items: { type: 'string' },
          description: 'Files or folders to read.',
        },
        write: {
          type: 'array',
          items: { type: 'string' },
          description: 'Files or folders to write. You can also read them.',
        },
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
 * Reads the permissions that the model asks for, and makes all paths absolute: relative to `cwd`,
 * and `~/` relative to `userHome`. Returns a string for the model if the value is invalid. It has
 * no subject, such as "needs `permissions`: …".
 */
export function readPermissions(
  value: JsonValue | undefined,
  { cwd, userHome }: { cwd: string; userHome: string | null },
): GrantedPermissions | string {
  if (!isObject(value))
    return 'needs `permissions`: {file_system: {read, write}, network: {enabled}}';
  const { file_system: files = null, network = null } = value as JsonObject;
  if (files !== null && !isObject(files))
    return 'needs `file_system` to be an object with lists `read` and `write`';
  if (network !== null && !isObject(network))
    return 'needs `network` to be an object with `enabled`';
  const { read = null, write = null } = (files ?? {}) as JsonObject;
  const toAbsolute = (path: string) =>
    path.startsWith('~/') && userHome !== null ? join(userHome, path.slice(2)) : resolve(cwd, path);
  const [reads, writes] = [paths(read, toAbsolute), paths(write, toAbsolute)];
  if (reads === null || writes === null) return 'needs `read` and `write` to be lists of paths';
  if (reads.length + writes.length > PATHS_MAX) return `can ask for at most ${PATHS_MAX} paths`;
  const enabled = network !== null && (network as JsonObject).enabled === true;
  if (reads.length + writes.length === 0 && !enabled)
    return 'needs at least one permission to ask for';
  return { read: reads, write: writes, network: enabled };
}

/** Returns null if the value is not a list of paths. */
function paths(value: JsonValue, toAbsolute: (path: string) => string): string[] | null {
  if (value === null) return [];
  if (!Array.isArray(value)) return null;
  const texts = value.filter(
    (path) => typeof path === 'string' && path !== '' && !path.includes('\0'),
  ) as string[];
  return texts.length === value.length ? [...new Set(texts.map(toAbsolute))] : null;
}

/**
 * Returns the reason, for the model, why no permission can make a path writable, or null. Neither
 * path may contain links.
 */
export function protectedWrite(path: string, home: string): string | null {
  const name = path.split(sep).find((part) => isProtectedName(part.toLowerCase()));
  if (name !== undefined)
    return `cannot make ${path} writable: ${name} is protected in the sandbox`;
  const isHomes = path === home || isOfHome(path, home, HOME_PROTECTED);
  return isHomes ? `cannot make ${path} writable: it belongs to the server's home` : null;
}

/** Converts permissions to the form that clients read. */
export function clientPermissions({
  read,
  write,
  network,
}: GrantedPermissions): AdditionalPermissionProfile {
  const entries = [
    ...read.map((path) => ({ path: { type: 'path' as const, path }, access: 'read' as const })),
    ...write.map((path) => ({ path: { type: 'path' as const, path }, access: 'write' as const })),
  ];
  return {
    network: network ? { enabled: true } : null,
    fileSystem:
      entries.length === 0
        ? null
        : {
            read: read.length === 0 ? null : [...read],
            write: write.length === 0 ? null : [...write],
            entries,
          },
  };
}

/** Returns the permissions in a client's answer, requested or not. Ignores denials and patterns. */
export function answeredPermissions({
  network,
  fileSystem,
}: GrantedPermissionProfile): GrantedPermissions {
  const granted = (access: 'read' | 'write') => {
    const entries = (fileSystem?.entries ?? []).filter((entry) => entry.access === access);
    const named = entries.flatMap(({ path }) => (path.type === 'path' ? [path.path] : []));
    const all = [...(fileSystem?.[access] ?? []), ...named];
    return [
      ...new Set(
        all.filter((path) => isAbsolute(path) && !path.includes('\0')).map((path) => resolve(path)),
      ),
    ];
  };
  return { read: granted('read'), write: granted('write'), network: network?.enabled === true };
}

/**
 * Returns the part of an answer that was requested: the requested paths, or paths below them. Write
 * access includes read access.
 */
export function commonPermissions(
  asked: GrantedPermissions,
  answered: GrantedPermissions,
): GrantedPermissions {
  const within = (roots: readonly string[]) => (path: string) =>
    roots.some((root) => isWithin(path, root));
  return {
    read: answered.read.filter(within([...asked.read, ...asked.write])),
    write: answered.write.filter(within(asked.write)),
    network: asked.network && answered.network,
  };
}
