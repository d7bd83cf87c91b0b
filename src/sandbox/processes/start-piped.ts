import { closeSync } from 'node:fs';
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { OutputReader } from './output-reader.ts';
import type { PipeEnds, Pipes } from './pipes.ts';
import { spawnChild, writeTo } from './spawn-child.ts';
import type { Launch, ProgramEnd, StartedProcess } from './started-process.ts';

interface PipeOptions {
  /** Whether it has an input to write to. If false, its input is empty. */
  input: boolean;
  /** Whether its stdout and stderr are one pipe. */
  joinsOutput: boolean;
  /** Whether this process may end while the program runs. */
  isBackground: boolean;
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

const ONE_OUTPUT = ['writes'] as const;
const TWO_OUTPUTS = ['writes', 'writes'] as const;

/** Shared by all programs: the bytes of each read are passed on before the next read. */
const buffer = Buffer.alloc(64 * 1024);

/**
 * Starts a program and reads its output through pipes. Rejects with a `ProcessStartError` if it
 * cannot be started.
 */
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

async function start(launch: Launch, options: PipeOptions): Promise<PipedChild> {
  const piped = await startWithPipes(launch, options);
  if (!options.isBackground) return piped;
  const { stdin, stdout, stderr } = piped;
  return { ...piped, stdin: released(stdin), stdout: releasing(stdout), stderr: releasing(stderr) };
}

async function startWithPipes(
  { argv, cwd, env, files }: Launch,
  { input, joinsOutput, isBackground, hidden, pipes }: PipeOptions,
): Promise<PipedChild> {
  const taken = await pipes.take([
    ...(input ? (['reads'] as const) : []),
    ...(joinsOutput ? ONE_OUTPUT : TWO_OUTPUTS),
  ]);
  const ends = taken ?? [];
  const [stdin, stdout, stderr] = input ? ends : [undefined, ...ends];
  const inputFile = input ? (stdin?.programs ?? 'pipe') : 'ignore';
  const stdio = [
    inputFile,
    stdout?.programs ?? 'pipe',
    (stderr ?? stdout)?.programs ?? 'pipe',
    ...files,
  ] as const;
  try {
    const { child, exited } = await spawnChild({ argv, cwd, env, stdio, hidden, isBackground });
    const { pid = 0 } = child;
    if (taken === null)
      return {
        pid,
        exited,
        stdin: child.stdin,
        stdout: reading(child.stdout),
        stderr: reading(child.stderr),
      };
    return { pid, exited, stdin: writer(stdin), stdout: reader(stdout), stderr: reader(stderr) };
  } catch (error) {
    for (const end of ends) closeSync(end.own);
    throw error;
  } finally {
    for (const end of ends) closeSync(end.programs);
  }
}

/** Makes a stream not keep this process alive. */
function released<S extends Readable | Writable | null>(stream: S): S {
  if (stream instanceof Socket) stream.unref();
  return stream;
}

function releasing(open: Opening): Opening {
  return (onBytes) => released(open(onBytes));
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
    // `onread` also works here, but Node's types have it only for sockets that connect.
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
