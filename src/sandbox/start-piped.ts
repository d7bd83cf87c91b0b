import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { OutputReader } from './output-reader.ts';
import type { PipeEnds, Pipes } from './pipes.ts';
import { spawnChild, writeTo } from './spawn-child.ts';
import type { Launch, ProgramEnd, StartedProcess } from './started-process.ts';

interface PipeOptions {
  /** Whether it can be written to; else its input is empty. */
  input: boolean;
  /** File descriptors of this process that its children would inherit. */
  hidden: ReadonlySet<number>;
  pipes: Pipes;
}

interface PipedChild {
  pid: number;
  exited: Promise<ProgramEnd>;
  stdin: Writable | null;
  stdout: Readable | null;
  stderr: Readable | null;
}

/** Starts a program with its output in pipes. Rejects with a `ProcessStartError`. */
export async function startPiped(launch: Launch, options: PipeOptions): Promise<StartedProcess> {
  const { onOutput } = launch;
  const { pid, exited, stdin, stdout, stderr } = await start(launch, options);
  stdin?.on('error', () => {});
  const output = new OutputReader([
    { stream: stdout, onData: (bytes) => onOutput('stdout', bytes) },
    { stream: stderr, onData: (bytes) => onOutput('stderr', bytes) },
  ]);
  return {
    pid,
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

async function start({ argv, cwd, env, files }: Launch, { input, hidden, pipes }: PipeOptions): Promise<PipedChild> {
  const ends = await pipes.take(input ? ['writes', 'writes', 'reads'] : ['writes', 'writes']);
  const [stdout, stderr, stdin] = ends ?? [];
  const inputFile = input ? (stdin?.programs ?? 'pipe') : 'ignore';
  const stdio = [inputFile, stdout?.programs ?? 'pipe', stderr?.programs ?? 'pipe', ...files] as const;
  try {
    const { child, exited } = await spawnChild({ argv, cwd, env, stdio, hidden });
    const own = ends === null ? child : { stdin: writer(stdin), stdout: reader(stdout), stderr: reader(stderr) };
    return { pid: child.pid ?? 0, exited, stdin: own.stdin, stdout: own.stdout, stderr: own.stderr };
  } catch (error) {
    for (const end of ends ?? []) closeSync(end.own);
    throw error;
  } finally {
    for (const end of ends ?? []) closeSync(end.programs);
  }
}

function reader(ends: PipeEnds | undefined): Socket | null {
  return ends === undefined ? null : new Socket({ fd: ends.own, readable: true, writable: false });
}

function writer(ends: PipeEnds | undefined): Socket | null {
  return ends === undefined ? null : new Socket({ fd: ends.own, readable: false, writable: true });
}
