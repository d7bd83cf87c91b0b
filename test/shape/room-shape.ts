import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { nodesOf, type SourceFile } from './read-source.ts';

/** A file and one that it imports, types included. Paths from the root. */
export interface Import {
  from: string;
  to: string;
}

/**
 * The orders of the folders inside some rooms, as src/README.md has them, by room: from the top
 * down, with the folders that may not import each other together.
 */
export function roomOrders(root: string): Map<string, string[][]> {
  const map = readFileSync(join(root, 'src', 'README.md'), 'utf8');
  const block = /^Inside these rooms, .*\n\n```\n([^`]+)\n```$/m.exec(map)?.[1];
  if (block === undefined) throw new Error('src/README.md has no block with the orders of folders');
  const orders = block.split(/\n(?=\S)/).map((lines): [string, string[][]] => {
    const [, room, order] =
      /^([\w/]+): ([\w-]+(?:, [\w-]+)*(?:\s+→ [\w-]+(?:, [\w-]+)*)+)$/.exec(lines) ?? [];
    if (room === undefined || order === undefined) throw new Error(`not an order: ${lines}`);
    return [room, order.split(/\s+→ /).map((folders) => folders.split(', '))];
  });
  return new Map(orders);
}

/** The imports between files of the project, each once. */
export function importsIn(files: readonly SourceFile[]): Import[] {
  return files.flatMap(({ path, program }) => {
    const named = [...nodesOf(program)].flatMap((node) =>
      'source' in node && node.source?.type === 'Literal' ? [String(node.source.value)] : [],
    );
    const targets = named
      .filter((name) => name.startsWith('.'))
      .map((name) => posix.join(posix.dirname(path), name));
    return [...new Set(targets)].map((to) => ({ from: path, to }));
  });
}

/** The files outside of some rooms that import from them; files of `src/config` aside. */
export function importersOf(rooms: readonly string[], imports: readonly Import[]): string[] {
  const isInside = (path: string) => rooms.some((room) => path.startsWith(`${room}/`));
  const importers = imports
    .filter(({ from, to }) => isInside(to) && !isInside(from) && !from.startsWith('src/config/'))
    .map(({ from }) => from);
  return [...new Set(importers)].sort();
}

/** The pairs of folders with the same parent, below one of these, that import each other. */
export function tiedSiblings(parents: readonly string[], imports: readonly Import[]): string[] {
  return tied(
    parents.flatMap((parent) =>
      imports.flatMap(({ from, to }) => {
        const [one, other] = [folderBelow(parent, from), folderBelow(parent, to)];
        return one !== null && other !== null && one !== other ? [[one, other] as const] : [];
      }),
    ),
  );
}

/** The pairs of a folder and its parent whose files import each other. */
export function tiedToParents(imports: readonly Import[]): string[] {
  return tied(
    imports.flatMap(({ from, to }) => {
      const [one, other] = [posix.dirname(from), posix.dirname(to)];
      return posix.dirname(one) === other || posix.dirname(other) === one
        ? [[one, other] as const]
        : [];
    }),
  );
}

/** Those pairs that exist in both directions. */
function tied(pairs: readonly (readonly [string, string])[]): string[] {
  const arrows = new Set(pairs.map(([from, to]) => `${from} ${to}`));
  const both = [...arrows].filter((arrow) => {
    const [from = '', to = ''] = arrow.split(' ');
    return from < to && arrows.has(`${to} ${from}`);
  });
  return both.map((arrow) => arrow.replace(' ', ' and ')).sort();
}

/** The child of a folder in which a file is; null if it is in the folder itself, or elsewhere. */
function folderBelow(parent: string, path: string): string | null {
  if (!path.startsWith(`${parent}/`)) return null;
  const rest = path.slice(parent.length + 1).split('/');
  return rest.length > 1 ? `${parent}/${rest[0]}` : null;
}
