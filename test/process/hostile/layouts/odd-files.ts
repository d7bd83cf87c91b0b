import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import type { HostileWorld } from '../hostile-world.ts';

/**
 * Functions that create an entry at a path that its readers do not expect. Each returns whether the
 * path was free.
 */
const ODD_FILES: readonly { weight: number; make(world: HostileWorld, path: string): boolean }[] = [
  { weight: 3, make: (world, path) => world.pipe(path) },
  { weight: 2, make: (world, path) => world.socket(path) },
  { weight: 1, make: (world, path) => world.folder(path) },
  { weight: 1, make: (world, path) => world.file(path) },
  { weight: 1, make: (world, path) => world.file(path, 'a\0b\n') },
  {
    weight: 1,
    make: (world, path) => world.file(path, Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x0a])),
  },
  { weight: 1, make: (world, path) => withMode(world.file(path, 'x\n'), path, 0o000) },
  { weight: 1, make: (world, path) => withMode(world.file(path, 'x\n'), path, 0o6755) },
  { weight: 0.5, make: (world, path) => world.large(path) },
  {
    weight: 2,
    make: (world, path) =>
      world.link(path, world.random.pick(['/dev/zero', '/dev/full', '/dev/tty', '/dev/random'])),
  },
  { weight: 1, make: (world, path) => world.link(path, '/proc/self/fd/0') },
  { weight: 1, make: (world, path) => world.link(path, path) },
  {
    weight: 1,
    make: (world, path) => world.link(path, `${path}-b`) && world.link(`${path}-b`, path),
  },
  { weight: 1, make: (world, path) => world.chain(path, join(world.outside, 'secret.txt')) },
  {
    weight: 2,
    make: (world, path) =>
      world.link(path, world.random.pick([world.outside, '../outside', '../../outside'])),
  },
  { weight: 1, make: (world, path) => world.link(path, join(world.outside, 'secret.txt')) },
  { weight: 1, make: (world, path) => world.link(path, join(world.outside, 'missing')) },
  { weight: 1, make: (world, path) => world.link(path, world.at('missing', 'inner')) },
  { weight: 1, make: (world, path) => world.link(path, world.home) },
  { weight: 1, make: (world, path) => world.link(path, '.') },
  { weight: 1, make: (world, path) => world.hardLink(path, join(world.linked, 'file')) },
  { weight: 1, make: (world, path) => world.link(path, world.temp) },
];

/** Creates an unexpected entry at a path. Returns false if the path is taken. */
export function oddFile(world: HostileWorld, path: string): boolean {
  return world.random.weighted(ODD_FILES).make(world, path);
}

function withMode(made: boolean, path: string, mode: number): boolean {
  if (made) chmodSync(path, mode);
  return made;
}
