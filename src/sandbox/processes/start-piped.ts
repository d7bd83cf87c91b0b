import { closeSync } from 'node:fs';
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
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
  stdout: Opening;
  stderr: Opening;
}

type Opening = (onBytes: (bytes: Buffer) => void) => Readable | null;

/** What is read goes here first, of all programs: each reading is told before the next. */
const buffer = Buffer.alloc(64 * 1024);

/** Starts a program with its output in pipes. Rejects with a `ProcessStartError`. */
export async function startPiped(launch: Launch, options: PipeOptions): Promise<StartedProcess> {
  const { onOutput } = launch;
  const { pid, exited, stdin, stdout, stderr } = await start(launch, options);
  stdin?.on('error', () => {});
  const output = new OutputReader([
    { open: stdout, onData: (bytes) => onOutput('stdout', bytes) },
    { open: stderr, onData: (bytes) => onOutput('stderr', bytes) },
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
    const { pid = 0 } = child;
    if (ends === null) return { pid, exited, stdin: child.stdin, stdout: reading(child.stdout), stderr: reading(child.stderr) };
    return { pid, exited, stdin: writer(stdin), stdout: reader(stdout), stderr: reader(stderr) };
  } catch (error) {
    for (const end of ends ?? []) closeSync(end.own);
    throw error;
  } finally {
    for (const end of ends ?? []) closeSync(end.programs);
  }
}

function reading(stream: Readable | null): Opening {
  return (onBytes) => stream?.on('data', onBytes) ?? null;
}

function reader(ends: PipeEnds | undefined): Opening {
  return (onBytes) => {
    if (ends === undefined) return null;
    const callback = (count: number) => {
      onBytes(buffer.subarray(0, count));
      return true;
    };
    // Node's documentation has `onread` for sockets that connect; its types do not have it for others.
    const options: SocketConstructorOpts & { onread: OnReadOpts } = {
      fd: ends.own,
      readable: true,
      writable: false,
      onread: { buffer, callback },
    };
    return new Socket(options);
  };
}

function writer(ends: PipeEnds | undefined): Socket | null {
  return ends === undefined ? null : new Socket({ fd: ends.own, readable: false, writable: true });
}
