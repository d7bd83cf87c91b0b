import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  bubblewrapMounts,
  type MountKind,
  type MountView,
} from '../../src/sandbox/linux/bubblewrap-mounts.ts';
import { mountAliases } from '../../src/sandbox/linux/mount-aliases.ts';

/** The number of arguments of an option. */
const OPTIONS: Record<string, number> = {
  ...{ '--bind-try': 2, '--ro-bind-try': 2, '--ro-bind': 2, '--symlink': 2 },
  ...{ '--tmpfs': 1, '--perms': 1, '--remount-ro': 1, '--dev': 1, '--proc': 1 },
};

function view(places: [string, MountKind][], more: Partial<MountView> = {}): MountView {
  return {
    everything: true,
    readOnlyProc: false,
    places: new Map(places),
    needless: new Set(),
    links: new Map(),
    system: new Map(),
    ...more,
  };
}

const paths = fc
  .array(fc.constantFrom('-', '--bind-try', 'a', 'b', ' ', '\n', '--', '.git', '*'), {
    maxLength: 4,
  })
  .map((parts) => `/${parts.join('/')}`);
const kinds = fc.constantFrom<MountKind>('write', 'read', 'bare', 'empty', 'nothing');

test('no path is read as an option: each is a whole argument of an option, and begins with a slash', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(paths, kinds)), fc.boolean(), (places, everything) => {
      const args = bubblewrapMounts(view(places, { everything }));
      for (let at = 0; at < args.length; ) {
        const count = OPTIONS[args[at] ?? ''];
        expect(count).toBeDefined();
        const values = args.slice(at + 1, at + 1 + (count ?? 0));
        if (args[at] !== '--perms')
          expect(values.filter((value) => !value.startsWith('/'))).toEqual([]);
        at += 1 + (count ?? 0);
      }
    }),
  );
});

test('deeper paths are mounted later, whatever the order in which they are given', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(paths, kinds)), (places) => {
      const args = bubblewrapMounts(view(places));
      const mounted = args.flatMap((arg, at) =>
        ['--bind-try', '--ro-bind-try', '--ro-bind'].includes(arg)
          ? [args[at + 2]]
          : arg === '--tmpfs'
            ? [args[at + 1]]
            : [],
      );
      const order = mounted.filter((path) => path !== '/');
      for (const [later, path] of order.entries()) {
        expect(order.slice(0, later).filter((earlier) => earlier?.startsWith(`${path}/`))).toEqual(
          [],
        );
      }
    }),
  );
});

test('the folders between a writable root and the protected paths in it are mount points too', () => {
  expect(
    bubblewrapMounts(
      view([
        ['/w', 'write'],
        ['/w/a/b/.git', 'read'],
        ['/r/x', 'read'],
      ]),
    ),
  ).toEqual([
    ...['--ro-bind-try', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...['--ro-bind-try', '/r/x', '/r/x'],
    ...[
      '--bind-try',
      '/w',
      '/w',
      '--bind-try',
      '/w/a',
      '/w/a',
      '--bind-try',
      '/w/a/b',
      '/w/a/b',
      '--ro-bind-try',
      '/w/a/b/.git',
      '/w/a/b/.git',
    ],
  ]);
});

test('with restricted reads, the root is bare, and has the links that lead to visible paths', () => {
  const links = new Map([
    ['/bin', 'usr/bin'],
    ['/usr/x', 'y'],
  ]);
  expect(bubblewrapMounts(view([['/usr', 'read']], { everything: false, links }))).toEqual([
    ...[
      '--dev',
      '/dev',
      '--proc',
      '/proc',
      '--ro-bind-try',
      '/usr',
      '/usr',
      '--symlink',
      'usr/bin',
      '/bin',
      '--remount-ro',
      '/',
    ],
  ]);
});

test('the aliases of a path include every mount of a folder above it', () => {
  const info = [
    '20 1 8:1 / / rw - ext4 /dev/a rw',
    '21 20 0:5 / /proc rw - proc proc rw',
    '22 20 8:1 /home/one /data/a\\040b rw - ext4 /dev/a rw',
    '23 20 8:1 /home/one/.heddle/x /other rw - ext4 /dev/a rw',
    '24 20 8:2 /home /second rw - ext4 /dev/b rw',
  ].join('\n');
  expect(mountAliases('/home/one/.heddle', info)).toEqual(['/data/a b/.heddle']);
  expect(mountAliases('/data/a b/.heddle', info)).toEqual(['/home/one/.heddle']);
  expect(mountAliases('/proc/1', info)).toEqual([]);
});
