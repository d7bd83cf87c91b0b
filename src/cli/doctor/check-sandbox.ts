import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { DoctorCheck } from './doctor-check.ts';

/** The sentence of a problem that says what to do. */
const ADVICE = /^(.*?\.) ((?:Run|Install|Start)\b.*)$/s;
const NO_ADVICE = 'heddle has a sandbox on Linux, with bubblewrap, and on macOS. See docs/security.md.';

/** Runs a command in the sandbox of this system. */
export async function checkSandbox(sandbox: Pick<Sandbox, 'available'>): Promise<DoctorCheck> {
  const available = await sandbox.available();
  if ('name' in available) return { name: 'sandbox', summary: available.name, facts: { sandbox: available.name }, problems: [] };
  const [, message = available.problem, fix = NO_ADVICE] = ADVICE.exec(available.problem) ?? [];
  return { name: 'sandbox', summary: 'none', facts: { sandbox: null }, problems: [{ severity: 'error', message, fix }] };
}
