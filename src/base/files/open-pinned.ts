import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  type Stats,
  statSync,
} from 'node:fs';
import { type FileHandle, lstat, open, stat } from 'node:fs/promises';
import { type AnyPath, OwnFileError } from './file-refused-error.ts';
import { O_PATH } from './o-path.ts';
import { ownFile } from './own-file.ts';

const O_NOFOLLOW = constants.O_NOFOLLOW ?? 0;

export interface PinnedOptions {
  /** The system's flags, without O_CREAT. */
  flags: number;
  followLinks?: boolean;
  /**
   * Looks at the file before it is opened, because opening a device or a pipe may have an effect on
   * it. Throws to refuse it.
   */
  check?: (stats: Stats) => void;
}

/** An open file, and what it was when it was opened. */
export interface OpenFile {
  descriptor: number;
  stats: Stats;
}

/**
 * Opens what is at a path, unless it is a file of heddle's store, whatever its name here is: that
 * rejects with an OwnFileError. Else rejects with the system's error or with that of `check`. All
 * files that others may have named are opened here.
 */
export async function openPinned(
  path: AnyPath,
  options: PinnedOptions,
): Promise<{ file: FileHandle; stats: Stats }> {
  const { flags, followLinks = true } = options;
  const linkFlag = followLinks ? 0 : O_NOFOLLOW;
  if (!canPin()) return openLooking(path, { ...options, linkFlag });
  const pin = await open(path, O_PATH | linkFlag);
  try {
    const stats = checked(path, fstatSync(pin.fd), options);
    return { file: await open(pathOf(pin.fd), flags), stats };
  } catch (error) {
    throw withPath(error, pin.fd, path);
  } finally {
    await pin.close();
  }
}

/** The same at once. Throws. */
export function openPinnedSync(path: string, options: PinnedOptions): OpenFile {
  const linkFlag = (options.followLinks ?? true) ? 0 : O_NOFOLLOW;
  if (!canPin()) return openLookingSync(path, { ...options, linkFlag });
  const pin = openSync(path, O_PATH | linkFlag);
  try {
    const stats = checked(path, fstatSync(pin), options);
    return { descriptor: openSync(pathOf(pin), options.flags), stats };
  } catch (error) {
    throw withPath(error, pin, path);
  } finally {
    closeSync(pin);
  }
}

let pins: boolean | null = null;

/**
 * Whether a file can be pinned: looked at through a handle that drops no lock, and then opened by
 * that handle, so that nothing can take its place in between. Linux can do it, unless /proc is not
 * mounted.
 */
function canPin(): boolean {
  pins ??= O_PATH !== 0 && existsSync(pathOf(0));
  return pins;
}

function pathOf(pin: number): string {
  return `/proc/self/fd/${pin}`;
}

/** The error of opening a pinned file, with the path that the caller knows. */
function withPath(error: unknown, pin: number, path: AnyPath): unknown {
  if (!(error instanceof Error) || !('path' in error) || error.path !== pathOf(pin)) return error;
  error.message = error.message.replace(pathOf(pin), String(path));
  return Object.assign(error, { path: String(path) });
}

function checked(path: AnyPath, stats: Stats, { check }: Pick<PinnedOptions, 'check'>): Stats {
  check?.(stats);
  const own = ownFile(stats);
  if (own !== null) throw new OwnFileError(path, own);
  return stats;
}

/**
 * Handles of the store's files, each of which took another file's place between the look and the
 * opening. To close one would drop the store's locks, and Node closes handles that nothing refers
 * to.
 */
const neverClosed: FileHandle[] = [];

async function openLooking(path: AnyPath, options: PinnedOptions & { linkFlag: number }) {
  const { flags, linkFlag } = options;
  checked(path, await (linkFlag === 0 ? stat(path) : lstat(path)), options);
  const file = await open(path, flags | linkFlag);
  try {
    return { file, stats: checked(path, await file.stat(), options) };
  } catch (error) {
    if (error instanceof OwnFileError) neverClosed.push(file);
    else await file.close();
    throw error;
  }
}

function openLookingSync(path: string, options: PinnedOptions & { linkFlag: number }): OpenFile {
  const { flags, linkFlag } = options;
  checked(path, linkFlag === 0 ? statSync(path) : lstatSync(path), options);
  const descriptor = openSync(path, flags | linkFlag);
  try {
    return { descriptor, stats: checked(path, fstatSync(descriptor), options) };
  } catch (error) {
    if (!(error instanceof OwnFileError)) closeSync(descriptor);
    throw error;
  }
}
