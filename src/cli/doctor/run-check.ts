import { type Clock, sleep } from '../../base/clock.ts';
import type { DoctorCheck } from './doctor-check.ts';

/** How long a check may take. A provider is asked for five seconds at most. */
const CHECK_MS_MAX = 15_000;

/**
 * Runs a check on its own. If it throws, or does not end in time, this is its result. Never
 * rejects.
 */
export async function runCheck(
  name: DoctorCheck['name'],
  check: () => DoctorCheck | Promise<DoctorCheck>,
  clock: Clock,
): Promise<DoctorCheck> {
  const ended = new AbortController();
  const tooLate = sleep(clock, CHECK_MS_MAX, ended.signal).then(() =>
    failed(name, `it has not ended within ${CHECK_MS_MAX / 1_000} s`),
  );
  try {
    return await Promise.race([check(), tooLate]);
  } catch (error) {
    return failed(name, error instanceof Error ? error.message : String(error));
  } finally {
    ended.abort();
  }
}

function failed(name: DoctorCheck['name'], why: string): DoctorCheck {
  const message = `this could not be checked: ${why}`;
  const fix = 'Remove the cause that the message names, and run heddle doctor again.';
  return { name, summary: 'unknown', facts: {}, problems: [{ severity: 'error', message, fix }] };
}
