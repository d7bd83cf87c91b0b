import type { Writable } from 'node:stream';
import { KeepAlive } from '../../base/keep-alive.ts';
import { orAborted } from '../../base/or-aborted.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';
import { OptionError, systemReason } from '../command-line/option-error.ts';
import { readOptionFile } from '../command-line/read-option-file.ts';
import type { KeyboardStream } from '../exec/asking/keyboard.ts';
import { type EndingHost, ExecEnding } from '../exec/exec-ending.ts';
import type { Output } from '../exec/screen.ts';
import { type SessionHost, startSession } from '../exec/start-session.ts';
import { isDumb } from '../terminal/painter.ts';
import { completeLine } from './complete-line.ts';
import { type InputLine, inputLines } from './input-lines.ts';
import { LineEditor } from './line-editor.ts';
import { LineError } from './line-error.ts';
import { methodHelp } from './method-help.ts';
import { parseLine } from './parse-line.ts';
import { ProtocolFields } from './protocol-fields.ts';
import { Recorder } from './recorder.ts';
import type { WireOptions } from './wire-options.ts';
import { WireScreen } from './wire-screen.ts';
import { type Source, WireSession } from './wire-session.ts';

/** The process in which a session runs. */
export interface WireHost extends EndingHost, SessionHost {
  version: string;
  env: Readonly<Record<string, string | undefined>>;
  stdin: KeyboardStream;
  stdout: Output & Writable;
  stderr: Output & Writable;
  /** The folder of the protocol's schema files. */
  schemaDir: string;
  /** The process ends with this code, even if the server does not close in time. */
  limitClose(exitCode: number): void;
}

const REPLAY_BYTES_MAX = 64 * 1024 * 1024;
const FAILED = 1;
const INTERRUPTED = 130;
const GREETING = 'Type a method: thread/start. Tab completes, help explains, Ctrl-D ends.';

/** The state that the parts of a session share. */
interface Wire {
  host: WireHost;
  fields: ProtocolFields;
  screen: WireScreen;
  session: WireSession;
  ending: ExecEnding;
  /** Aborts when nothing more can be sent: the session is to end, or the server has ended. */
  over: AbortController;
}

/**
 * Runs a session. Resolves with the exit code of the process. Rejects with an OptionError if the
 * command line cannot be carried out.
 */
export async function runWire(
  { save, replay, whole }: WireOptions,
  host: WireHost,
): Promise<number> {
  const { stdout, stderr, env, version } = host;
  const screen = new WireScreen({ stdout, stderr, env, whole });
  const ending = new ExecEnding(host, screen, 'ending the session');
  const script =
    replay === null ? Buffer.alloc(0) : await readOptionFile('--replay', replay, REPLAY_BYTES_MAX);
  const recorder =
    save === null
      ? null
      : await Recorder.create(save, (reason) =>
          screen.problem(`--save ${save}: lines are lost: ${reason}`),
        );
  const over = new AbortController();
  ending.signal.addEventListener('abort', () => over.abort());
  const fields = new ProtocolFields(host.schemaDir);
  const { client, close } = await startSession(host, {
    onMessage(message) {
      screen.message(message);
      session.observe(message);
    },
  });
  const session = new WireSession({
    client,
    fields,
    recorder,
    screen,
    version,
    signal: over.signal,
  });
  const whenGone = client.closed.then(() => {
    if (over.signal.aborted) return;
    session.fail();
    screen.problem('the server has ended the connection');
    over.abort();
  });
  let exitCode = FAILED;
  try {
    // A search, for one, keeps no process alive that waits for it.
    exitCode = await new KeepAlive().during(
      exchange({ host, fields, screen, session, ending, over }, script),
    );
  } finally {
    over.abort();
    host.limitClose(ending.exitCode ?? exitCode);
    const reports = await close();
    await whenGone;
    await recorder?.close();
    for (const report of reports) screen.note(...`heddle: ${report}`.split('\n'));
    if (reports.length > 0) exitCode ||= FAILED;
  }
  return ending.exitCode ?? exitCode;
}

/**
 * Sends the lines of the file, and then those of a person or of stdin. Resolves with the exit code.
 */
async function exchange(wire: Wire, script: Buffer): Promise<number> {
  const { host, session, screen, over, ending } = wire;
  const { stdin, stdout, stderr } = host;
  const terminal = screen.isTerminal ? stdout : screen.notesToTerminal ? stderr : null;
  const goesOn = await readLines(wire, inputLines([script]));
  if (!goesOn || over.signal.aborted) await session.settle();
  else if (stdin.isTTY === true && terminal !== null) return edit(wire, terminal);
  else {
    await readLines(wire, inputLines(stdin));
    await session.settle();
  }
  if (ending.signal.aborted) return INTERRUPTED;
  return session.hasFailed ? FAILED : 0;
}

/** Sends lines of a file or pipe until they end. Returns false if one of them ends the session. */
async function readLines(wire: Wire, lines: AsyncGenerator<InputLine>): Promise<boolean> {
  const { session, screen, over } = wire;
  for (;;) {
    const next = await orAborted(nextLine(lines), over.signal);
    if (next === null || next.done === true) return true;
    const { number, text, problem } = next.value;
    const wrong = problem ?? (await take(wire, text, 'read'));
    if (wrong === EXIT) return false;
    if (wrong === null) continue;
    session.fail();
    screen.problem(`line ${number}: ${wrong}`);
  }
}

/** A line, or the reason why there is none. */
async function nextLine(lines: AsyncGenerator<InputLine>): Promise<IteratorResult<InputLine>> {
  try {
    return await lines.next();
  } catch (error) {
    if (systemErrorCode(error) === null) throw error;
    throw new OptionError(`wire: stdin cannot be read: ${systemReason(error)}`, { cause: error });
  }
}

/** Sends the lines that a person types. Resolves with the exit code. */
async function edit(wire: Wire, terminal: Writable): Promise<number> {
  const { host, fields, session, screen, over } = wire;
  const { stdin, env } = host;
  let wasInterrupted = false;
  const editor = new LineEditor({
    input: stdin,
    output: terminal,
    isDumb: isDumb(env),
    complete: (line) =>
      completeLine(line, { fields, answerShape: (id) => session.answerShape(id) }),
    onInterrupt() {
      if (wasInterrupted) return wire.ending.interrupt();
      wasInterrupted = true;
      screen.note(
        session.interrupt()
          ? 'Ctrl-C again ends the session.'
          : 'Ctrl-C again ends the session, and so does Ctrl-D.',
      );
    },
  });
  screen.note(GREETING);
  screen.attach(editor);
  over.signal.addEventListener('abort', () => editor.close());
  try {
    for await (const line of editor.lines()) {
      wasInterrupted = false;
      const wrong = await take(wire, line, 'typed');
      if (wrong === EXIT) break;
      if (wrong !== null) screen.problem(wrong);
    }
  } finally {
    editor.close();
    screen.attach(null);
  }
  return wire.ending.signal.aborted ? INTERRUPTED : over.signal.aborted ? FAILED : 0;
}

/** The answer of `take` to a line that ends the session. */
const EXIT = Symbol('exit');

/** Does what a line says. Resolves with the reason why that is not possible, or null. */
async function take(
  { fields, session, screen }: Wire,
  text: string,
  source: Source,
): Promise<string | typeof EXIT | null> {
  try {
    const line = parseLine(text, fields);
    if (line.kind === 'exit') return EXIT;
    if (line.kind === 'help') screen.note(...methodHelp(line.method, fields));
    else if (line.kind !== 'show') await session.take(line, source);
    else if (session.last(line.method) === undefined)
      return `show: there was no ${line.method ?? 'response'} yet`;
    else screen.full(session.last(line.method));
    return null;
  } catch (error) {
    if (error instanceof LineError) return error.message;
    if (error instanceof RangeError) return 'it is nested too deep';
    throw error;
  }
}
