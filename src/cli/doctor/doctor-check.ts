/** A thing that was found to be wrong, and the one thing to do about it. */
export interface DoctorProblem {
  /** `warning`: heddle works as it is configured, but perhaps not as the user expects. */
  severity: 'error' | 'warning';
  message: string;
  fix: string | null;
  /** The file with the problem, and the place in it, from 1. */
  file?: string;
  line?: number;
  column?: number;
}

/** The summary of a check that depends on a configuration that cannot be read. */
export const NO_CONFIGURATION = 'unknown, because the configuration cannot be read';

/** One thing that was looked at. */
export interface DoctorCheck {
  name:
    | 'home'
    | 'configuration'
    | 'provider'
    | 'store'
    | 'sandbox'
    | 'shell'
    | 'git'
    | 'search'
    | 'mcpServers'
    | 'programs'
    | 'skills'
    | 'trust'
    | 'proxies';
  /** A line for people. */
  summary: string;
  /** The facts, for programs. */
  facts: object;
  problems: readonly DoctorProblem[];
}
