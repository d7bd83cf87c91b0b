import { OutputReader } from './output-reader.ts';
import { spawnChild, writeTo } from './spawn-child.ts';
import type { Launch, StartedProcess } from './started-process.ts';

/** Starts a program with its output in pipes. Rejects with a `ProcessStartError`. */
export async function startPiped(
  { argv, cwd, env, files, onOutput }: Launch,
  { input, hidden }: { input: boolean; hidden: ReadonlySet<number> },
): Promise<StartedProcess> {
  const stdio = [input ? 'pipe' : 'ignore', 'pipe', 'pipe', ...files] as const;
  const { child, exited } = await spawnChild({ argv, cwd, env, stdio, hidden });
  const { stdin } = child;
  stdin?.on('error', () => {});
  const output = new OutputReader([
    { stream: child.stdout, onData: (bytes) => onOutput('stdout', bytes) },
    { stream: child.stderr, onData: (bytes) => onOutput('stderr', bytes) },
  ]);
  return {
    pid: child.pid ?? 0,
    exited,
    output,
    write: (data) => writeTo(stdin, data),
    endInput: () => stdin?.end(),
    resize: () => {},
    async finish() {
      const allRead = await output.finish();
      stdin?.destroy();
      return allRead;
    },
  };
}
