import { spawn } from 'node:child_process';
import type { Processes, ProcessSpec, RunningProcess } from './processes.ts';
import { ProcessStartError, SandboxUnavailableError } from './processes.ts';
import type { Sandbox } from './sandbox.ts';

/** Processes of this machine. */
export function createProcesses({ sandbox }: { sandbox: Sandbox | null }): Processes {
  const running = new Map<RunningProcess, readonly string[]>();
  return {
    async start(spec, onOutput) {
      const started = await start(spec, { sandbox, onOutput });
      running.set(started, spec.owner);
      void started.ended.then(() => running.delete(started));
      return started;
    },
    async killOwned(owner) {
      const owned = [...running].filter(([, of]) => owner.every((word, index) => of[index] === word));
      await Promise.all(owned.map(([one]) => one.kill()));
    },
    async close() {
      await this.killOwned([]);
    },
  };
}

async function start(
  { argv, cwd, env, bounds, terminal, input }: ProcessSpec,
  { sandbox, onOutput }: { sandbox: Sandbox | null; onOutput: Parameters<Processes['start']>[1] },
): Promise<RunningProcess> {
  if (bounds !== null && sandbox === null) throw new SandboxUnavailableError('There is no sandbox on this system.');
  const confinement = bounds === null ? null : await sandbox?.confine({ argv, cwd, env, terminal: terminal !== null }, bounds);
  const [program = '', ...args] = confinement?.argv ?? argv;
  const child = spawn(program, args, {
    cwd,
    env: confinement?.env ?? env,
    detached: true,
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(confinement?.files ?? [])],
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(new ProcessStartError(`${argv[0]}: ${error.message}`, { cause: error })));
  });
  child.stdout?.on('data', (bytes: Buffer) => onOutput('stdout', bytes));
  child.stderr?.on('data', (bytes: Buffer) => onOutput('stderr', bytes));
  const pid = child.pid ?? 0;
  const closed = new Promise<{ exitCode: number }>((resolve) => {
    child.once('close', (code) => resolve({ exitCode: code ?? 137 }));
  });
  const ended = closed.then(async (end) => {
    await confinement?.release();
    return end;
  });
  return {
    pid,
    ended,
    write: (data) => new Promise((resolve) => (child.stdin === null ? resolve() : child.stdin.write(data, () => resolve()))),
    endInput: () => child.stdin?.end(),
    resize: () => {},
    pause: () => child.stdout?.pause(),
    resume: () => child.stdout?.resume(),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
