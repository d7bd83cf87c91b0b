import { cutText } from '../../base/text/cut-text.ts';
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  RpcError,
  refused,
  SHOWN_CHARS_MAX,
} from '../rpc-error.ts';

export function emptyProcessHandle(): RpcError {
  return refused('empty_process_handle', 'processHandle must not be empty');
}

/** For params that fit the schema, but contradict each other or have no meaning. */
export function contradictoryParams(problem: string): RpcError {
  return new RpcError(INVALID_PARAMS, problem, { code: 'invalid_params' });
}

/** `what` is the word for the names of processes: process id or process handle. */
export function duplicateProcess(what: string, id: string): RpcError {
  return refused('process_id_taken', `duplicate active ${what}: ${shownId(id)}`);
}

export function processNotFound(what: string, id: string): RpcError {
  return refused('process_not_found', `there is no active ${what} ${shownId(id)}`);
}

export function needsProcessId(): RpcError {
  return refused(
    'process_id_required',
    'command/exec with tty, streamStdin or streamStdoutStderr needs a processId',
  );
}

export function stdinNotStreamed(id: string): RpcError {
  return refused(
    'stdin_not_streamed',
    `${shownId(id)} was started without streamStdin: its stdin cannot be written to`,
  );
}

export function stdinClosed(id: string): RpcError {
  return refused('stdin_closed', `the stdin of ${shownId(id)} has been closed`);
}

export function noTerminal(id: string): RpcError {
  return refused(
    'no_terminal',
    `${shownId(id)} was started without tty: it has no terminal to resize`,
  );
}

export function tooManyProcesses(max: number): RpcError {
  return refused(
    'too_many_processes',
    `a connection can have at most ${max} processes at a time: end some first`,
  );
}

/** `problem` says whether the program, the folder or the system is the cause. */
export function processNotStarted(problem: string): RpcError {
  return new RpcError(INTERNAL_ERROR, problem, { code: 'process_not_started' });
}

/** `problem` says what is missing and how to get it. */
export function sandboxUnavailable(problem: string): RpcError {
  return new RpcError(INTERNAL_ERROR, problem, { code: 'sandbox_unavailable' });
}

function shownId(id: string): string {
  return JSON.stringify(cutText(id, SHOWN_CHARS_MAX));
}
