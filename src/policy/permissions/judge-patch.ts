import { isWithin } from '../../base/is-within.ts';
import type { AskForApproval } from '../../protocol/generated/types.ts';
import type { Grants } from './grants.ts';
import { isWritable } from './is-writable.ts';
import { mayAsk } from './may-ask.ts';
import type { SandboxBounds } from './sandbox-bounds.ts';

/** A file that a patch makes, changes or takes away. */
export interface TouchedFile {
  /** Absolute, as it was named. */
  path: string;
  /** Where it really is, behind all links. */
  real: string;
  /** Whether its content changes and it has further names, which may be anywhere. */
  shared: boolean;
}

/** The roots and the home that a sandbox has, as they are named, and behind all links. */
export interface PatchBounds {
  named: Pick<SandboxBounds, 'writableRoots' | 'home'>;
  real: Pick<SandboxBounds, 'writableRoots' | 'home'>;
}

export interface PatchSituation {
  files: readonly TouchedFile[];
  /** Null: none. */
  bounds: PatchBounds | null;
  approvalPolicy: AskForApproval;
  grants: Pick<Grants, 'allowsFiles'>;
}

/** What is to become of a patch. The reason of an `ask` is for the person who decides, that of a `refuse` for the model. */
export type PatchVerdict = { verdict: 'write' } | { verdict: 'ask'; reason: string | null } | { verdict: 'refuse'; reason: string };

/** Judges a patch by the files that it touches. A user's session grant holds for a file by its name and its real place. */
export function judgePatch({ files, bounds, approvalPolicy, grants }: PatchSituation): PatchVerdict {
  if (grants.allowsFiles(grantedPaths(files))) return { verdict: 'write' };
  const outside = bounds === null ? null : firstOutside(files, bounds);
  if (outside === null) return approvalPolicy === 'untrusted' ? { verdict: 'ask', reason: null } : { verdict: 'write' };
  if (mayAsk(approvalPolicy, 'sandbox_approval')) return { verdict: 'ask', reason: outside };
  return { verdict: 'refuse', reason: `${outside} Nobody is asked about that under the present approval policy.` };
}

/** What a session grant for these files covers. */
export function grantedPaths(files: readonly TouchedFile[]): string[] {
  return [...new Set(files.flatMap(({ path, real }) => [path, real]))];
}

/** Why the sandbox does not let one of the files be written; null: it lets all. */
function firstOutside(files: readonly TouchedFile[], { named, real }: PatchBounds): string | null {
  for (const file of files) {
    const shown = file.real === file.path ? file.path : `${file.path}, which is ${file.real},`;
    if (isProtected(file.path, named) || isProtected(file.real, real)) return `${shown} is protected by the sandbox.`;
    if (!isWritable(file.real, real)) return `${shown} is outside of what the sandbox lets be written.`;
    if (file.shared) return `${file.path} has further names (hard links), which may be outside of what the sandbox lets be written.`;
  }
  return null;
}

/** What lies in a writable root and still may not be written. */
function isProtected(path: string, roots: PatchBounds['named']): boolean {
  return roots.writableRoots.some((root) => isWithin(path, root)) && !isWritable(path, roots);
}
