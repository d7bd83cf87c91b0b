import type { Answer } from '../protocol/answer.ts';

/**
 * Why a turn was interrupted: `user`, a client asked for it; `close`, its thread was closed, for
 * example archived; `clientGone`, the last client went away and the server ends; `shutdown`, the
 * server was told to end; `guardian`, the guardian has denied too many actions; `parent`, the
 * thread that started this one as its agent was interrupted or stopped it; `hook`, a hook stopped
 * it.
 */
export type InterruptCause =
  | 'user'
  | 'guardian'
  | 'parent'
  | 'hook'
  | 'close'
  | 'clientGone'
  | 'shutdown';

/**
 * Why an action is not performed. `policy`, `part`: policy or a part of the turn refused it without
 * asking; with `endsTurn`, the turn ends. `declined`, `cancelled`: a person said no; `cancelled`
 * also ends the turn. `guardian`: the guardian model said no, or its review failed; with
 * `endsTurn`, the turn ends. `error`: clients answered with an error only. `timeout`: nobody
 * answered in time. `clientGone`: no client is left that could answer. `unanswered`: no reviewer
 * took the question. `interrupted`: the turn was.
 */
export type Denial =
  | { by: 'policy'; reason: string }
  | { by: 'part'; reason: string; endsTurn?: true }
  | { by: 'declined' | 'cancelled' | 'clientGone' | 'unanswered' }
  | { by: 'guardian'; reason: string; endsTurn: boolean }
  | { by: 'error'; message: string }
  | { by: 'timeout'; ms: number }
  | { by: 'interrupted'; cause: InterruptCause };

/** The text of a denial for the model. `declined` is the text for a refusal by a person. */
export function refusalText(denial: Denial, declined = 'The user declined.'): string {
  switch (denial.by) {
    case 'policy':
    case 'part':
    case 'guardian':
      return denial.reason;
    case 'declined':
    case 'cancelled':
      return declined;
    case 'error':
      return `The client answered the request for approval with an error, which counts as a refusal: ${denial.message}`;
    case 'timeout':
      return `Nobody answered the request for approval within ${denial.ms / 1000} seconds, so this was not done.`;
    case 'clientGone':
      return 'No client is left that could answer the request for approval, so this was not done.';
    case 'unanswered':
      return 'The request for approval was not answered.';
    case 'interrupted':
      return INTERRUPTED[denial.cause];
    default:
      return denial satisfies never;
  }
}

const INTERRUPTED: Record<InterruptCause, string> = {
  user: 'The turn was interrupted before this was done.',
  guardian:
    'The turn was interrupted before this was done, because the automatic reviewer had denied several actions in a row, or too many in all.',
  parent: 'The agent that started this one stopped it before this was done.',
  hook: 'A hook stopped the turn before this was done.',
  close: 'The thread was closed before this was done.',
  clientGone: 'The client went away before this was done.',
  shutdown: 'The server was shut down before this was done.',
};

/** Whether somebody decided to stop the turn. */
export function isDecided(cause: InterruptCause | null): boolean {
  return cause === 'user' || cause === 'guardian' || cause === 'parent' || cause === 'hook';
}

/**
 * The status of an item that was not performed: `declined` only if a person, a client or the
 * guardian refused it or stopped the turn.
 */
export function deniedStatus(denial: Denial): 'declined' | 'failed' {
  switch (denial.by) {
    case 'timeout':
    case 'clientGone':
    case 'unanswered':
      return 'failed';
    case 'interrupted':
      return isDecided(denial.cause) ? 'declined' : 'failed';
    case 'policy':
    case 'part':
    case 'declined':
    case 'cancelled':
    case 'guardian':
    case 'error':
      return 'declined';
    default:
      return denial satisfies never;
  }
}

/** The denial for an answer without a result. */
export function unanswered(answer: Exclude<Answer<unknown>, { type: 'result' }>): { deny: Denial } {
  switch (answer.type) {
    case 'error':
      return { deny: { by: 'error', message: answer.message } };
    case 'timeout':
      return { deny: { by: 'timeout', ms: answer.ms } };
    case 'clientGone':
      return { deny: { by: 'clientGone' } };
    case 'aborted':
      return { deny: { by: 'unanswered' } };
    default:
      return answer satisfies never;
  }
}
