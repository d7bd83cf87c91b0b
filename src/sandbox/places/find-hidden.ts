import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { monotonicMs } from '../../base/clock.ts';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { eachEntry } from '../../base/files/list-folder.ts';
import { inSlices } from '../../base/in-slices.ts';
import { followPath } from '../../base/paths/follow-path.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { realPath } from '../../base/paths/real-path.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { hasErrorCode } from '../../base/system-error-code.ts';
import type { HiddenFiles } from '../../policy/permissions/hidden-files.ts';
import {
  after,
  afterNamed,
  isEnd,
  literalName,
  type PathPattern,
  type Positions,
  startOf,
} from '../../policy/permissions/path-pattern.ts';
import { ProcessStartError } from '../processes/processes.ts';
import { KERNEL_FOLDERS } from './kernel-folders.ts';
import { type HiddenPlace, PATH_BYTES_MAX } from './view-places.ts';

const SEARCH_MS_MAX = 10_000;
/** Each of them is a mount of its own. */
const FOUND_MAX = 2_000;
/** The number of folders that are read at once. */
const READS_MAX = 8;
/**
 * The work of looking into a folder, and of comparing a name with a pattern, in the units of
 * `EventLoopYield`.
 */
const LOOK_WORK = 20;
const NAME_WORK = 4;

/** A folder in which something may match. */
interface Folder {
  path: string;
  depth: number;
  open: readonly OpenPattern[];
  /** The real paths of the links that lead here. */
  links: readonly string[];
}

interface OpenPattern {
  files: HiddenFiles;
  positions: Positions;
}

interface Entry {
  name: string;
  kind: 'folder' | 'link' | 'other';
}

/** What bounds hide now. */
export interface FoundHidden {
  places: readonly HiddenPlace[];
  /** Real paths of links to the folders in which the places were looked for. */
  links: readonly string[];
}

/**
 * Finds what is hidden now. `hidden`: its roots are real paths. A link to a folder is followed if
 * the pattern has its name as plain text. A folder that matches is one place, and so is a folder in
 * which something may match but that this user may not read. Rejects with a `ProcessStartError`,
 * which says what to change, if the search takes too long, or finds too much. `msMax`: tests set
 * it, since no folder takes too long on every machine.
 */
export async function findHidden(
  hidden: readonly HiddenFiles[],
  { msMax = SEARCH_MS_MAX } = {},
): Promise<HiddenPlace[]> {
  const found = new Map<string, HiddenPlace>();
  const untilMs = monotonicMs() + msMax;
  const loop = new EventLoopYield();
  const folders = firstFolders(hidden);
  const units = (batch: readonly Folder[]) => LOOK_WORK * batch.length;
  for await (const batch of inSlices(batchesOf(folders), units, loop)) {
    if (monotonicMs() > untilMs) throw tooLong(batch[0], msMax);
    for (const { places, below } of await Promise.all(
      batch.map((folder) => lookInto(folder, loop)),
    )) {
      for (const place of places) found.set(place.path, merged(place, found.get(place.path)));
      folders.push(...below);
    }
    if (found.size > FOUND_MAX) throw tooManyHidden([...found.values()]);
  }
  return outermost([...found.values()]);
}

/** Takes the folders off the list, which may grow meanwhile. */
function* batchesOf(folders: Folder[]): Generator<Folder[], void, void> {
  while (folders.length > 0) yield folders.splice(-READS_MAX);
}

/** A path that matches itself needs no link to be found again. */
function merged(place: HiddenPlace, known: HiddenPlace | undefined): HiddenPlace {
  if (known === undefined || place.links.length === 0) return place;
  return known.links.length === 0
    ? known
    : { ...known, links: [...new Set([...known.links, ...place.links])] };
}

function firstFolders(hidden: readonly HiddenFiles[]): Folder[] {
  const byRoot = new Map<string, OpenPattern[]>();
  for (const files of hidden)
    byRoot.set(files.root, [
      ...(byRoot.get(files.root) ?? []),
      { files, positions: startOf(files.pattern) },
    ]);
  return [...byRoot]
    .map(([path, open]) => ({ path, depth: 0, open, links: [] }))
    .filter(({ path }) => !isOfKernel(path));
}

async function lookInto(
  folder: Folder,
  loop: EventLoopYield,
): Promise<{ places: HiddenPlace[]; below: Folder[] }> {
  const { path, open, links } = folder;
  const places: HiddenPlace[] = [];
  const below: Folder[] = [];
  const entries = await entriesOf(path, open);
  // Its owner can change its mode later.
  if (entries === null)
    return { places: [{ path, isFolder: true, text: open[0]?.files.text ?? '', links }], below };
  for await (const entry of inSlices(entries, NAME_WORK * open.length, loop)) {
    const at = join(path, entry.name);
    const next = open.map(({ files, positions }) => ({
      files,
      positions: after(files.pattern, positions, entry.name),
    }));
    const match = next.find(({ files, positions }) => isEnd(files.pattern, positions));
    const place = match === undefined ? null : placeAt(at, entry, match.files.text);
    if (place !== null) places.push({ ...place, links: [...links, ...place.links] });
    else if (match === undefined)
      below.push(...folderAt(at, entry, { ...folder, open: next, before: open }));
  }
  return { places, below };
}

/**
 * The folder in which to look on, or none. `above`: the folder that has the entry, with the
 * patterns as they are open after its name. Each link that is followed takes a name of the pattern,
 * so the search ends.
 */
function folderAt(
  path: string,
  { name, kind }: Entry,
  above: Folder & { before: readonly OpenPattern[] },
): Folder[] {
  if (kind === 'other') return [];
  const depth = above.depth + 1;
  const next =
    kind === 'folder'
      ? above.open
      : above.before.map(({ files, positions }) => ({
          files,
          positions: afterNamed(files.pattern, positions, name),
        }));
  const open = next.filter(
    ({ files, positions }) =>
      positions.length > 0 && depth < (files.depthMax ?? Number.POSITIVE_INFINITY),
  );
  if (open.length === 0) return [];
  const real = kind === 'folder' ? path : realPath(path);
  if (
    real === null ||
    isOfKernel(real) ||
    (kind === 'link' && statOf(real)?.isDirectory() !== true)
  )
    return [];
  requireMountable(real, open[0]?.files.text ?? '');
  return [
    {
      path: real,
      depth,
      open,
      links: kind === 'folder' ? above.links : [...above.links, ...linksOn(path)],
    },
  ];
}

/** The real paths of the links on the way to a path. */
function linksOn(path: string): string[] {
  return followPath(path).links.map(({ link }) => link);
}

/**
 * Null: this user may not read the folder. If only some names can match, only these are looked for.
 */
async function entriesOf(path: string, open: readonly OpenPattern[]): Promise<Entry[] | null> {
  const names = onlyNames(open);
  if (names !== null)
    return isClosed(path) ? null : names.flatMap((name) => entryAt(path, name) ?? []);
  const entries: Entry[] = [];
  const isRead = await eachEntry(path, (entry) => {
    const kind = entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'other';
    entries.push({ name: entry.name, kind });
  });
  return isRead ? entries : null;
}

/** The names that can match next. Null: not only some. */
function onlyNames(open: readonly OpenPattern[]): string[] | null {
  const names = open.flatMap(({ files: { pattern }, positions }) =>
    positions.map((at) => nameAt(pattern, at)),
  );
  return names.includes(null) ? null : [...new Set(names as string[])];
}

function nameAt(pattern: PathPattern, at: number): string | null {
  const part = pattern[at];
  return part === undefined ? null : literalName(part);
}

/** Whether this user may not look at the entries of a folder. */
function isClosed(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK);
    return false;
  } catch (error) {
    return hasErrorCode(error, ['EACCES', 'EPERM']) && statOf(folder)?.isDirectory() === true;
  }
}

function entryAt(folder: string, name: string): Entry | null {
  const stat = statOf(join(folder, name));
  if (stat === null) return null;
  return { name, kind: stat.isDirectory() ? 'folder' : stat.isSymbolicLink() ? 'link' : 'other' };
}

/** Null: the link leads to nothing. */
function placeAt(path: string, { kind }: Entry, text: string): HiddenPlace | null {
  if (kind !== 'link') {
    requireMountable(path, text);
    return { path, isFolder: kind === 'folder', text, links: [] };
  }
  const target = realPath(path);
  const stat = target === null ? null : statOf(target);
  if (target === null || stat === null) return null;
  requireMountable(target, text);
  return { path: target, isFolder: stat.isDirectory(), text, links: linksOn(path) };
}

/** Throws a `ProcessStartError` if the sandbox cannot name the path. */
function requireMountable(path: string, text: string): void {
  if (!path.includes('\uFFFD') && Buffer.byteLength(path) < PATH_BYTES_MAX) return;
  throw new ProcessStartError(
    `${path}: the pattern ${text} may hide files here, and this path is too long or not UTF-8, so the sandbox cannot hide them. ` +
      'Rename it, or begin the pattern with another folder.',
  );
}

/** Leaves out what is in another place. */
function outermost(places: readonly HiddenPlace[]): HiddenPlace[] {
  const kept: HiddenPlace[] = [];
  // With a slash at the end, everything in a folder directly follows it.
  for (const place of [...places].sort((one, other) =>
    `${one.path}/` < `${other.path}/` ? -1 : 1,
  )) {
    const above = kept.at(-1);
    if (above === undefined || !isWithin(place.path, above.path)) kept.push(place);
  }
  return kept;
}

function isOfKernel(path: string): boolean {
  return KERNEL_FOLDERS.some((folder) => isWithin(path, folder));
}

function tooLong(folder: Folder | undefined, ms: number): ProcessStartError {
  const files = folder?.open[0]?.files;
  return new ProcessStartError(
    `${files?.root}: the search for the files that the pattern ${files?.text} hides did not end within ${ms / 1000} s, so no command runs in the ` +
      'sandbox. Begin the pattern with a folder further down, or set `glob_scan_max_depth` beside it: what lies deeper is then not hidden ' +
      'from commands.',
  );
}

/** The error for more places than a sandbox can hide. */
export function tooManyHidden(places: readonly HiddenPlace[]): ProcessStartError {
  return new ProcessStartError(
    `${places.length} files and folders or more are hidden, such as ${places[0]?.path} by the pattern ${places[0]?.text}. The sandbox cannot hide ` +
      'so many, so no command runs in it. Let the pattern match the folders that they are in instead of each file.',
  );
}
