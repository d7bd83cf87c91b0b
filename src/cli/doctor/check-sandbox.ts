import { sweepGuards } from '../../sandbox/places/sweep-guards.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { DoctorCheck } from './doctor-check.ts';

/** The sentence of a problem that says what to do. */
const ADVICE = /^(.*?\.) ((?:Run|Install|Start)\b.*)$/s;
const NO_ADVICE =
  'heddle has a sandbox on Linux, with bubblewrap, and on macOS. See docs/security.md.';

/**
 * Runs a command in the sandbox of this system, and removes the guards that killed servers have
 * left.
 */
export async function checkSandbox(
  sandbox: Pick<Sandbox, 'available'>,
  guardLists: string | null,
): Promise<DoctorCheck> {
  const removed = guardLists === null ? 0 : await sweepGuards(guardLists);
  const available = await sandbox.available();
  if ('name' in available) {
    const left =
      removed === 0
        ? ''
        : `, ${removed} ${removed === 1 ? 'guard' : 'guards'} of killed servers removed`;
    const facts = { sandbox: available.name, ...(removed === 0 ? {} : { guardsRemoved: removed }) };
    return { name: 'sandbox', summary: `${available.name}${left}`, facts, problems: [] };
  }
  const [, message = available.problem, fix = NO_ADVICE] = ADVICE.exec(available.problem) ?? [];
  return {
    name: 'sandbox',
    summary: 'none',
    facts: { sandbox: null },
    problems: [{ severity: 'error', message, fix }],
  };
}
