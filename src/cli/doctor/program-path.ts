import { findProgram } from '../../sandbox/processes/find-program.ts';
import { ProcessStartError } from '../../sandbox/processes/processes.ts';

/**
 * Returns the path of a program as it is found from this folder with this PATH, or why it cannot be
 * started.
 */
export async function programPath(
  name: string,
  { cwd, path }: { cwd: string; path: string | undefined },
): Promise<string | { problem: string }> {
  try {
    return await findProgram(name, { cwd, env: path === undefined ? {} : { PATH: path } });
  } catch (error) {
    if (error instanceof ProcessStartError) return { problem: error.message };
    throw error;
  }
}
