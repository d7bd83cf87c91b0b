import { UsageError } from './command-line/usage-error.ts';

/**
 * Rejects with a UsageError that names this help if a setting of the command line cannot be one.
 * The code for it is loaded only if there are any.
 */
export async function requireValidOverrides(
  overrides: readonly string[],
  help: string,
): Promise<void> {
  if (overrides.length === 0) return;
  const { overridesProblem } = await import('../config/overrides-problem.ts');
  const problem = await overridesProblem(overrides);
  if (problem !== null) throw new UsageError(problem, help);
}
