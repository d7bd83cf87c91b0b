import { ripgrepPath } from '../../search/ripgrep-path.ts';
import type { DoctorCheck, DoctorProblem } from './doctor-check.ts';

/** Looks for ripgrep, with which clients search files. */
export function checkSearch(path = ripgrepPath()): DoctorCheck {
  const problem: DoctorProblem = {
    severity: 'warning',
    message: 'ripgrep is not installed for this platform, so clients cannot search files',
    fix: 'Install heddle with its optional dependencies (npm install --include=optional).',
  };
  return {
    name: 'search',
    summary: path ?? 'not found',
    facts: { path },
    problems: path === null ? [problem] : [],
  };
}
