import { describeProblem } from '../../../src/cli/command-line/describe-problem.ts';
import { parseCommandLine } from '../../../src/cli/command-line/parse-command-line.ts';
import { UsageError } from '../../../src/cli/command-line/usage-error.ts';

/** The text about the mistake in a command line; null if there is none. */
export function problemOf(argv: string[]): string | null {
  try {
    parseCommandLine(argv);
    return null;
  } catch (error) {
    if (error instanceof UsageError) return describeProblem(error, argv);
    throw error;
  }
}
