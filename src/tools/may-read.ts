import { isWithin } from '../base/paths/is-within.ts';
import { isHidden } from '../policy/permissions/hidden-files.ts';
import { isReadable } from '../policy/permissions/is-writable.ts';
import type { SandboxBounds } from '../policy/permissions/sandbox-bounds.ts';
import { findHidden } from '../sandbox/places/find-hidden.ts';
import { realBounds } from '../sandbox/places/real-bounds.ts';
import type { HiddenPlace } from '../sandbox/places/view-places.ts';
import { ProcessStartError } from '../sandbox/processes/processes.ts';

/**
 * Whether a file may be read. `real` is a path without links. Throws a `ProcessStartError` if that
 * cannot be found out.
 */
export type MayRead = (real: string) => boolean;

/**
 * Looks which files may be read now for a model whose commands have these bounds. Only files in
 * folders that the bounds name may be read, although commands can also read the system files that
 * programs need.
 */
export async function mayRead(named: SandboxBounds | null): Promise<MayRead> {
  if (named === null) return () => true;
  const { bounds } = realBounds(named);
  const isSeen = await notHidden(bounds);
  return (real) => isReadable(real, bounds) && isSeen(real);
}

/**
 * Looks which files the bounds do not hide now: neither from a command that begins now, nor by
 * their names.
 */
export async function mayBeSeen(named: SandboxBounds | null): Promise<MayRead> {
  return named === null ? () => true : notHidden(realBounds(named).bounds);
}

async function notHidden({ hidden }: SandboxBounds): Promise<MayRead> {
  if (hidden === undefined) return () => true;
  const places = await placesOf(hidden);
  return (real) => {
    if (places instanceof ProcessStartError) throw places;
    return !isHidden(real, hidden) && !places.some(({ path }) => isWithin(real, path));
  };
}

/** The error if the search has reached a limit. */
async function placesOf(
  hidden: NonNullable<SandboxBounds['hidden']>,
): Promise<HiddenPlace[] | ProcessStartError> {
  try {
    return await findHidden(hidden);
  } catch (error) {
    if (error instanceof ProcessStartError) return error;
    throw error;
  }
}
