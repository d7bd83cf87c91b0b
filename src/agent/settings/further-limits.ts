import { isDeepStrictEqual } from 'node:util';
import type { InheritedLimits } from '../../config/inherited-limits.ts';

/** The limits in `all` that `without` lacks. Null: there are none. */
export function furtherLimits(
  all: InheritedLimits,
  without: InheritedLimits,
): InheritedLimits | null {
  const networks = all.networks.filter((each) => !includesLimits(without.networks, each));
  return networks.length > 0 || (without.unixSockets && !all.unixSockets)
    ? { networks, unixSockets: all.unixSockets }
    : null;
}

/** Whether the same limits are among these. */
export function includesLimits(
  networks: InheritedLimits['networks'],
  network: InheritedLimits['networks'][number],
): boolean {
  return networks.some((each) => isDeepStrictEqual(each, network));
}
