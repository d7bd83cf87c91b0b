import type { CommandCall } from './call/command-call.ts';
import { shellArgv } from './call/user-shell.ts';
import type { CommandDeps } from './command-deps.ts';
import type { CommandStart } from './command-run.ts';

/** Returns what is started for a call, by what is known of the user's shell now. */
export function commandStart(
  { argv, script }: CommandCall,
  { shell, environment }: CommandDeps,
): CommandStart {
  const [program = '', option] = argv;
  const isPlain = script !== null && option === '-lc' && shell.replacesProfile(program);
  return {
    argv: isPlain ? shellArgv(program, script, { login: false }) : argv,
    env: environment(),
  };
}
