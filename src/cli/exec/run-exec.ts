import type { Log } from '../../base/log.ts';
import { orAborted } from '../../base/or-aborted.ts';
import { showJsonLine, showText } from '../../base/text/show-text.ts';
import type { Client } from '../../client/client.ts';
import type { WireMessage } from '../../client/client-options.ts';
import { RequestError } from '../../client/request-error.ts';
import type { ErrorCode } from '../../protocol/generated/error-code.ts';
import type { UserInput } from '../../protocol/generated/types.ts';
import { answerRequests } from './asking/answer-requests.ts';
import { Dialogs } from './asking/dialogs.ts';
import type { KeyboardStream } from './asking/keyboard.ts';
import { type EndingHost, ExecEnding } from './exec-ending.ts';
import type { ExecOptions } from './exec-options.ts';
import { type Folder, type OpenedThread, openThread } from './open-thread.ts';
import { readFiles, readPrompt } from './read-prompt.ts';
import { type Output, Screen } from './screen.ts';
import { type SessionHost, startSession } from './start-session.ts';
import { problemLines, TurnPrinter } from './turn-printer.ts';
import { Warnings } from './warnings.ts';

/** The process in which a turn runs. */
export interface ExecHost extends EndingHost, SessionHost {
  version: string;
  env: Readonly<Record<string, string | undefined>>;
  stdin: KeyboardStream;
  stdout: Output;
  stderr: Output;
  folder: Folder;
  /** The given options that would allow more, and do not here. */
  ignored: readonly string[];
  /** Has all warnings of the server. */
  log: Log;
  /** The process ends with this code, even if the server does not close in time. */
  limitClose(exitCode: number): void;
}

const FAILED = 1;
const INTERRUPTED = 130;

/**
 * Runs one turn. Resolves with the exit code of the process. Rejects with an OptionError if the
 * command line cannot be carried out.
 */
export async function runExec(asked: ExecOptions, host: ExecHost): Promise<number> {
  const { env, stdout, stderr } = host;
  const screen = new Screen({ stdout, stderr, env, json: asked.json });
  const ending = new ExecEnding(host, screen);
  noteIgnored(host, screen);
  const { images, outputSchema } = await readFiles(asked);
  const prompt = await orAborted(
    readPrompt(asked, { stdin: host.stdin, note: (text) => screen.note(text) }),
    ending.signal,
  );
  if (prompt === null) return ending.exitCode ?? INTERRUPTED;
  const input: UserInput[] = [{ type: 'text', text: prompt }, ...images];
  const onMessage = (message: WireMessage) =>
    printJson(message, { stdout, isTerminal: stdout.isTTY === true });
  const session = await startSession(host, asked.json ? { onMessage } : {});
  const warnings = new Warnings(session.client, {
    screen: asked.json ? null : screen,
    log: host.log,
  });
  let exitCode = FAILED;
  try {
    exitCode = await runTurn({
      asked,
      host,
      screen,
      ending,
      warnings,
      client: session.client,
      input,
      outputSchema,
    });
  } catch (error) {
    if (ending.signal.aborted) exitCode = INTERRUPTED;
    else if (error instanceof RequestError) screen.note(...refusal(error, screen));
    else throw error;
  } finally {
    host.limitClose(ending.exitCode ?? exitCode);
    screen.release();
    const reports = await session.close();
    warnings.end();
    for (const report of reports) screen.note(`heddle: ${showText(report, { multiline: true })}`);
    if (reports.length > 0) exitCode ||= FAILED;
  }
  return ending.exitCode ?? exitCode;
}

function noteIgnored({ ignored }: ExecHost, screen: Screen): void {
  if (ignored.length > 0)
    screen.note(
      `${ignored.join(', ')}: allows nothing here; --sandbox, --ask-for-approval and --approve do`,
    );
}

/** Prints a notification as it is on the wire. */
function printJson(
  { direction, line, message }: WireMessage,
  { stdout, isTerminal }: { stdout: Output; isTerminal: boolean },
): void {
  if (direction !== 'received' || !('method' in message) || 'id' in message) return;
  stdout.write(isTerminal ? showJsonLine(`${line}\n`) : `${line}\n`);
}

interface TurnDeps {
  asked: ExecOptions;
  host: ExecHost;
  screen: Screen;
  ending: ExecEnding;
  warnings: Warnings;
  client: Client;
  input: UserInput[];
  outputSchema: unknown;
}

async function runTurn({
  asked,
  host,
  screen,
  ending,
  warnings,
  client,
  input,
  outputSchema,
}: TurnDeps): Promise<number> {
  const dialogs = new Dialogs(screen, host.stdin, () => ending.interrupt());
  answerRequests(client, { approve: asked.approve, screen, dialogs });
  const opened = await orAborted(open(client, asked, host), ending.signal);
  if (opened === null) return INTERRUPTED;
  warnings.show();
  screen.folder = opened.cwd;
  showBeginning(opened, asked, screen);
  const printer = asked.json ? null : new TurnPrinter(screen);
  const { thread } = opened;
  const run = client.turn(
    { threadId: thread.id, input, ...(outputSchema === undefined ? {} : { outputSchema }) },
    { signal: ending.signal },
  );
  for await (const notification of run) printer?.take(notification);
  const { turn } = await run.result;
  screen.release();
  if (printer !== null) printer.end(turn);
  else if (turn.error !== null) screen.note(...problemLines(turn.error, screen));
  return turn.status === 'completed' ? 0 : turn.status === 'interrupted' ? INTERRUPTED : FAILED;
}

async function open(
  client: Client,
  asked: ExecOptions,
  { version, folder }: ExecHost,
): Promise<OpenedThread> {
  const clientInfo = { name: 'heddle-exec', title: 'heddle exec', version };
  await client.initialize({ clientInfo, capabilities: { experimentalApi: true } });
  return openThread(client, asked, folder);
}

/** Says which thread it is, and how to continue it, where a person reads it. */
function showBeginning(
  { thread, model, cwd }: OpenedThread,
  { resume, json }: ExecOptions,
  screen: Screen,
): void {
  const [title = ''] = (thread.name ?? thread.preview).split('\n');
  if (resume === 'last')
    screen.note(screen.line(`continues thread ${thread.id}${title === '' ? '' : `: ${title}`}`));
  if (!screen.notesToTerminal || json) return;
  screen.note(
    screen.line(`thread ${thread.id}, model ${model}, in ${cwd}`, { color: 'dim' }),
    ...(thread.ephemeral
      ? []
      : [screen.line(`to continue it: heddle exec --resume ${thread.id}`, { color: 'dim' })]),
  );
}

const HINTS: Partial<Record<ErrorCode, string>> = {
  thread_not_found:
    'heddle threads list prints the ids of threads, and --last continues the last one here. --resume FILE continues a rollout of Codex.',
  invalid_thread_id:
    'At a terminal, exec prints the id of each thread first. heddle exec --last continues the last one of this folder.',
  active_writer:
    'Another process runs this thread. Wait until it has ended, or start another thread without --resume and --last.',
  config_invalid: 'heddle doctor checks the whole configuration.',
};

function refusal({ message, data }: RequestError, screen: Screen): string[] {
  return problemLines(
    { message, additionalDetails: (data.code && HINTS[data.code]) ?? null },
    screen,
  );
}
