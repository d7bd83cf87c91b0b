import { dirname } from 'node:path';
import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import type { KnownFile } from '../server-programs/server-programs.ts';
import { GUARD_WORK, type ViewPlaces } from './view-places.ts';

/** The work of looking at a file, in the units of `EventLoopYield`. */
const FILE_UNITS = 2;

/** A file that commands can replace or create, or only a link that leads to it. */
interface OpenFile {
  file: KnownFile;
  isEndOpen: boolean;
}

interface ProtectProgramsOptions {
  places: ViewPlaces;
  /** Folders that the user has left out. Real paths. */
  unprotected: readonly string[];
  loop: EventLoopYield;
}

/**
 * Protects the files of programs that the server starts outside the sandbox, unless they are in a
 * folder that the user has left out. Returns the files that commands with this view can still
 * change.
 */
export async function protectPrograms(
  files: readonly KnownFile[],
  { places, unprotected, loop }: ProtectProgramsOptions,
): Promise<OpenFile[]> {
  const isOpen = (path: string) => places.kindOf(path) === 'write';
  const left: OpenFile[] = [];
  for await (const file of inSlices(files, FILE_UNITS, loop)) {
    const { end, links, ifAbsent, leavesLinks = false } = file;
    if (![end, ...links].some(isOpen) || unprotected.some((folder) => isWithin(end, folder)))
      continue;
    for await (const link of inSlices(leavesLinks ? [] : links, GUARD_WORK, loop))
      protectLink(link, places);
    if (isOpen(end) && (ifAbsent === 'guard' || statOf(end) !== null)) places.protect(end);
    if ([end, ...links].some(isOpen)) left.push({ file, isEndOpen: isOpen(end) });
  }
  return left;
}

/**
 * Protects a link by its folder, unless that is a root: then commands could not create anything
 * there.
 */
function protectLink(link: string, places: ViewPlaces): void {
  const folder = dirname(link);
  if (places.kindOf(folder) === 'write' && !places.isRoot(folder)) places.freeze(folder);
}
