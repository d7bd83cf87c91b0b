import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import type { AskForApproval } from '../../protocol/generated/types.ts';
import { whyNotAsked } from '../approvals/may-ask.ts';
import { isWritable } from './is-writable.ts';
import type { SandboxBounds } from './sandbox-bounds.ts';
import type { SessionGrants } from './session-grants.ts';

/** The work of judging a file, in the units of `EventLoopYield`. */
const FILE_UNITS = 20;

/** A file that a patch creates, changes or deletes. */
export interface TouchedFile {
  /** The absolute path as the patch names it. */
  path: string;
  /** The real path, with all links resolved. */
  real: string;
  /**
   * The device and inode of a file that has other hard links, which may be anywhere, if the patch
   * changes its content. Null: it has none, or the patch puts another file in its place.
   */
  shared: string | null;
}

/** The roots and the home of a sandbox, as they are named and with all links resolved. */
export interface PatchBounds {
  named: Pick<SandboxBounds, 'writableRoots' | 'home' | 'hidden'>;
  real: Pick<SandboxBounds, 'writableRoots' | 'home' | 'hidden'>;
  /**
   * How the sandbox protects a real path in the roots from commands, and so from patches too: a
   * predicate. Null: it does not.
   */
  protectedAs(real: string): string | null;
}

export interface PatchSituation {
  files: readonly TouchedFile[];
  /** Null: the patch is not restricted. */
  bounds: PatchBounds | null;
  approvalPolicy: AskForApproval;
  grants: Pick<SessionGrants, 'allowsFiles'>;
}

/**
 * The decision about a patch. The reason of `ask` is for the person who decides, the reason of
 * `refuse` is for the model.
 */
export type PatchVerdict =
  | { verdict: 'write' }
  | { verdict: 'ask'; reason: string | null }
  | { verdict: 'refuse'; reason: string };

/**
 * Judges a patch by the files that it touches. A session grant must cover a file's path and its
 * real path.
 */
export async function judgePatch(
  { files, bounds, approvalPolicy, grants }: PatchSituation,
  breaks = new EventLoopYield(),
): Promise<PatchVerdict> {
  if (grants.allowsFiles(grantedPaths(files))) return { verdict: 'write' };
  const outside = bounds === null ? null : await firstOutside(files, bounds, breaks);
  if (outside === null)
    return approvalPolicy === 'untrusted' ? { verdict: 'ask', reason: null } : { verdict: 'write' };
  const why = whyNotAsked(approvalPolicy, 'sandbox_approval');
  if (why === null) return { verdict: 'ask', reason: outside };
  return { verdict: 'refuse', reason: `${outside} Nobody can be asked: ${why}.` };
}

/**
 * Returns the paths that a session grant for these files covers. A grant covers paths, because each
 * patch changes the file. For a file with other hard links, it covers only that file: a command
 * could put another file with a hard link outside at the path.
 */
export function grantedPaths(files: readonly TouchedFile[]): string[] {
  return [
    ...new Set(
      files.flatMap(({ path, real, shared }) => [
        path,
        real,
        ...(shared === null ? [] : [`${real} is ${shared}`]),
      ]),
    ),
  ];
}

/**
 * Returns the reason why the sandbox does not allow one of the files to be written. Returns null if
 * it allows all.
 */
async function firstOutside(
  files: readonly TouchedFile[],
  bounds: PatchBounds,
  breaks: EventLoopYield,
): Promise<string | null> {
  for await (const file of inSlices(files, FILE_UNITS, breaks)) {
    const shown = file.real === file.path ? file.path : `${file.path}, which is ${file.real},`;
    if (isReadOnlyInRoot(file.path, bounds.named) || isReadOnlyInRoot(file.real, bounds.real))
      return `${shown} is protected by the sandbox.`;
    if (!isWritable(file.real, bounds.real))
      return `${shown} is outside the folders that can be written in the sandbox.`;
    const protectedAs = bounds.protectedAs(file.real);
    if (protectedAs !== null) return `${shown} ${protectedAs}.`;
    if (file.shared !== null)
      return `${file.path} has other hard links, which may be outside the folders that can be written in the sandbox.`;
  }
  return null;
}

/** Whether a path is in a writable root, but cannot be written. */
function isReadOnlyInRoot(path: string, roots: PatchBounds['named']): boolean {
  return roots.writableRoots.some((root) => isWithin(path, root)) && !isWritable(path, roots);
}
