import { dirname } from 'node:path';
import { hiddenSecrets, hiddenSockets } from '../../base/files/hidden-sockets.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import {
  HOME_PROTECTED,
  HOME_READABLE,
  HOME_SECRETS,
  SECRET_FILES,
} from '../../policy/permissions/home-readable.ts';
import { PROTECTED_NAMES, type SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import type { FoundHidden } from '../places/find-hidden.ts';

const PLATFORM_READABLE = [
  ...[
    '/System',
    '/usr',
    '/bin',
    '/sbin',
    '/Library',
    '/opt',
    '/private/etc',
    '/private/var/db/timezone',
    '/private/var/select',
    '/dev',
  ],
  ...['/Applications/Xcode.app', '/nix'],
];
const DEVICES_WRITABLE = [
  '/dev/null',
  '/dev/zero',
  '/dev/tty',
  '/dev/ptmx',
  '/dev/stdout',
  '/dev/stderr',
  '/dev/dtracehelper',
];

const NAME_RESOLVER = '/private/var/run/mDNSResponder';

const ALWAYS = [
  '(version 1)',
  '(deny default)',
  '(allow process-fork process-exec signal process-info* sysctl-read mach-lookup ipc-posix-sem ipc-posix-shm pseudo-tty)',
  '(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc"))',
  '(allow file-read-metadata (literal "/"))',
  '(allow file-ioctl (regex #"^/dev/(tty.*|ptmx)$"))',
];

/**
 * Returns a Seatbelt profile for the bounds, whose paths must be real. `serverPlaces` are the files
 * and folders that the server runs from, `hidden` what the bounds hide now, and the links to the
 * folders in which it was looked for. Later rules override earlier ones.
 */
export function seatbeltProfile(
  bounds: SandboxBounds,
  serverPlaces: readonly string[],
  hidden: FoundHidden = { places: [], links: [] },
): string {
  const { readable, writableRoots, network, unixSockets, home, linkedSecrets = [] } = bounds;
  const rules = [
    ...ALWAYS,
    readable === 'everything'
      ? '(allow file-read*)'
      : allow(
          'file-read*',
          [
            ...readable.roots,
            ...writableRoots,
            ...(readable.platformDefaults ? PLATFORM_READABLE : []),
          ].map(subpath),
        ),
    allow('file-write*', [...DEVICES_WRITABLE.map(literal), ...writableRoots.map(subpath)]),
    deny(
      'file-write*',
      writableRoots.flatMap((root) => PROTECTED_NAMES.map((name) => protectedName(root, name))),
    ),
    ...homeRules(bounds),
    deny(
      'file-read* file-write*',
      [...HOME_SECRETS.map((name) => `${home}/${name}`), ...linkedSecrets].map(subpath),
    ),
    deny(
      'file-read* file-write*',
      SECRET_FILES.map((name) => copiesOf(home, name)),
    ),
    deny('file-write*', serverPlaces.map(subpath)),
    deny(
      'file-read* file-write*',
      [...hidden.places.map(({ path }) => path), ...hiddenSecrets()].map(subpath),
    ),
    deny('file-write-unlink', keptFor(hidden, writableRoots).map(literal)),
    '(deny file-write-setugid)',
    network
      ? '(allow network* system-socket)'
      : '(allow network* (local ip "localhost:*") (remote ip "localhost:*"))',
    ...unixSocketRules({ network, unixSockets }),
  ];
  return `${rules.filter((rule) => rule !== '').join('\n')}\n`;
}

/** heddle's home can only be read where commands need it, unless it is a folder for their work. */
function homeRules({ home, writableRoots, workspace }: SandboxBounds): string[] {
  const homeIsRoot = writableRoots.includes(home);
  const inHome = writableRoots.filter((root) => root.startsWith(`${home}/`));
  const workInHome = workspace.filter((folder) => folder === home || folder.startsWith(`${home}/`));
  return homeIsRoot
    ? [
        deny(
          'file-write*',
          HOME_PROTECTED.map((name) => subpath(`${home}/${name}`)),
        ),
      ]
    : [
        deny('file-write*', [subpath(home)]),
        deny('file-read*', [subpath(home)]),
        allow('file-read*', [
          literal(home),
          ...HOME_READABLE.map((name) => subpath(`${home}/${name}`)),
          ...[...inHome, ...workInHome].map(subpath),
        ]),
        allow('file-write*', inHome.map(subpath)),
        deny(
          'file-write*',
          inHome.flatMap((root) => PROTECTED_NAMES.map((name) => protectedName(root, name))),
        ),
      ];
}

/**
 * The folders between the roots and what is hidden in them, and the links through which it matches.
 * A command that renames one would see the files, or the next command would.
 */
function keptFor(hidden: FoundHidden, roots: readonly string[]): string[] {
  const links = [...hidden.places.flatMap((place) => place.links), ...hidden.links];
  const above = new Set<string>();
  for (const place of [...hidden.places.map(({ path }) => path), ...links]) {
    for (
      let folder = dirname(place);
      roots.some((root) => isBelow(folder, root));
      folder = dirname(folder)
    )
      above.add(folder);
  }
  return [...above, ...new Set(links)];
}

/**
 * Names are resolved through a unix socket of the system, which a command with network also needs.
 */
function unixSocketRules({
  network,
  unixSockets,
}: Pick<SandboxBounds, 'network' | 'unixSockets'>): string[] {
  if (unixSockets)
    return [
      network ? '' : '(allow network* (local unix-socket) (remote unix-socket))',
      deny('network-outbound', hiddenSockets().map(literal)),
    ];
  return [
    '(deny network* (remote unix-socket))',
    network ? `(allow network-outbound ${literal(NAME_RESOLVER)})` : '',
  ];
}

function allow(operations: string, filters: readonly string[]): string {
  return filters.length === 0 ? '' : `(allow ${operations} ${filters.join(' ')})`;
}

function deny(operations: string, filters: readonly string[]): string {
  return filters.length === 0 ? '' : `(deny ${operations} ${filters.join(' ')})`;
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function literal(path: string): string {
  return `(literal ${quoted(path)})`;
}

/** Matches the name at any depth below the root, whether it exists or not. */
function protectedName(root: string, name: string): string {
  return `(regex #"^${escaped(root === '/' ? '' : root)}/(.*/)?${escaped(name)}(/|$)")`;
}

/** Matches the entries of a folder whose names contain the name. */
function copiesOf(folder: string, name: string): string {
  return `(regex #"^${escaped(folder)}/[^/]*${escaped(name)}")`;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\"]/g, '\\$&');
}

function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}
