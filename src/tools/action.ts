import type { Grants } from '../policy/permissions/grants.ts';
import type { Permit } from '../policy/permissions/permit.ts';
import type { Announcement } from '../protocol/announcement.ts';
import type { Answer } from '../protocol/answer.ts';
import type { FileChangeApprovalDecision, FunctionCallOutputBody, ServerRequests, ThreadItem } from '../protocol/generated/types.ts';
import type { ThreadSettings } from '../store/thread-store.ts';

/** The kinds of actions, for those who decide about them. `other` needs no decision. */
export type ActionKind = 'command' | 'stdin' | 'patch' | 'permissions' | 'other';

/**
 * What a call would do, worked out and not done yet. The agent takes it through one order: parts of the turn may refuse it, policy
 * judges it, reviewers answer what policy wants to be asked, its item begins, it is performed, its item completes.
 */
export interface Action {
  readonly kind: ActionKind;
  /** The item that shows the action to clients, as it begins. Null if clients do not see the action. */
  readonly item: ThreadItem | null;
  /** Decides by policy and grants. Changes nothing. */
  judge(settings: ThreadSettings, grants: Grants): Judgement;
  /** Does it, within the permit. `shown` is the item that has begun, null where the action has none. */
  perform(permit: Permit, shown: OpenItem | null, host: ActionHost): Promise<ActionOutcome>;
  /** The outcome of an action that is not performed. `item` counts only if the item had begun. */
  refused(denial: Denial): ActionOutcome;
  /** Gives back what preparing took, such as locks and open files. Called once, however the action ended. */
  close?(): Promise<void>;
}

/** What policy says about an action. The reason of a refusal is for the model. */
export type Judgement = { run: Permit } | { ask: Ask } | { refuse: string };

/** Something that needs a decision before it may be done. */
export interface Ask {
  /** What is allowed if all of it is allowed. */
  readonly permit: Permit;
  /** Puts the question to the clients of the thread, and reads their answer. */
  askPerson(ask: AskClients): Promise<Verdict>;
  /** Remembers what the verdict allows beyond this action. */
  keep?(verdict: Allowed, host: ActionHost): Promise<void>;
}

/** How long an allowance counts: for this action, for the turn, for the session of the thread, or from now on. */
export type Scope = 'once' | 'turn' | 'session' | 'always';

export interface Allowed {
  allow: Permit;
  scope: Scope;
  /** With `always`: the words that begin the commands that are allowed from now on. */
  rule?: readonly string[];
}

export type Verdict = Allowed | { deny: Denial };

/**
 * Why an action is not performed. `policy` and `part`: nobody was asked. `declined` and `cancelled`: a reviewer said no, and with
 * `cancelled` the turn ends as well. `unanswered`: the question was withdrawn. `interrupted`: the turn was.
 */
export type Denial = { by: 'policy' | 'part'; reason: string } | { by: 'declined' | 'cancelled' | 'unanswered' | 'interrupted' };

/** What an action has come to. A failure is an outcome that the model reads, never an exception. */
export interface ActionOutcome {
  /** What the model reads. */
  output: FunctionCallOutputBody;
  success: boolean;
  /** The item as it completes. `runsOn`: the action completes its item later by itself. Absent where there is no item. */
  item?: ThreadItem | 'runsOn';
  /** What clients are told behind the completed item. */
  after?: readonly Announcement[];
}

/** What an action reaches of the agent while it is performed. It may outlive the turn. */
export interface ActionHost {
  /** Asks for more than the permit allows, such as to run again outside the sandbox. */
  requestMore(ask: Ask): Promise<Verdict>;
  /** Asks the clients of the thread something that is no approval. The thread is shown as waiting for the user's input meanwhile. */
  askUser: AskClients;
  /** How long clients have to answer, in milliseconds; null: without limit. */
  readonly answerMsMax: number | null;
  /** Tells the thread's clients, in the order of the thread's other events. */
  emit(announcement: Announcement): Promise<void>;
  /** Aborts when the turn is interrupted. */
  readonly signal: AbortSignal;
}

/** A request that a server sends to its clients. */
export interface ClientRequest<Method extends keyof ServerRequests> {
  method: Method;
  params: ServerRequests[Method]['params'];
}

/**
 * Asks the clients of the thread; the first answer counts. Never rejects: a refusal is an error, so is silence for longer than the
 * configuration allows, and `aborted` says that the turn ended.
 */
export type AskClients = <Method extends keyof ServerRequests>(
  request: ClientRequest<Method>,
) => Promise<Answer<ServerRequests[Method]['result']>>;

/** An item that has begun. It may complete long after its turn has ended. */
export interface OpenItem {
  /** When it began, on the steady clock, in milliseconds. */
  readonly startedMs: number;
  /**
   * The item as it is now, or what gives it when it is needed. It is saved at most once in each interval, so that a kill costs no
   * more than that; the announcement is sent at once.
   */
  update(item: ThreadItem | (() => ThreadItem), announcement?: Announcement): void;
  /** Null while clients read what they are told; else resolves when they have caught up. */
  drained(): Promise<void> | null;
  /** Stores the whole item and tells clients, once. If it cannot be stored now, it is told, and stored as soon as that is possible. */
  complete(item: ThreadItem): Promise<void>;
}

/** An action that needs no decision and shows no item. */
export function plainAction(perform: (host: ActionHost) => Promise<ActionOutcome> | ActionOutcome): Action {
  return {
    kind: 'other',
    item: null,
    judge: () => ({ run: UNCONFINED }),
    perform: async (_permit, _shown, host) => perform(host),
    refused: (denial) => failed(refusalText(denial)),
  };
}

/** The permit of actions that no sandbox confines. */
export const UNCONFINED: Permit = { sandboxed: false, readOnly: false, askIfRefused: false };

/** A denial in words for the model; `declined` is said where a person refused. */
export function refusalText(denial: Denial, declined = 'The user declined.'): string {
  switch (denial.by) {
    case 'policy':
    case 'part':
      return denial.reason;
    case 'declined':
    case 'cancelled':
      return declined;
    case 'unanswered':
      return 'The request for approval was not answered.';
    case 'interrupted':
      return 'The turn was interrupted before this was done.';
    default:
      return denial satisfies never;
  }
}

/** The outcome of a call that cannot be performed; `output` tells the model why. */
export function failed(output: string): ActionOutcome {
  return { output, success: false };
}

/** The verdict for a client's decision; `allow` is the permit if it accepts. */
export function decisionVerdict(decision: FileChangeApprovalDecision, allow: Permit): Verdict {
  switch (decision) {
    case 'accept':
      return { allow, scope: 'once' };
    case 'acceptForSession':
      return { allow, scope: 'session' };
    case 'decline':
      return { deny: { by: 'declined' } };
    case 'cancel':
      return { deny: { by: 'cancelled' } };
    default:
      return decision satisfies never;
  }
}

/** A verdict for an answer that is no result: an error is a no. */
export function unanswered(answer: Exclude<Answer<unknown>, { type: 'result' }>): { deny: Denial } {
  return { deny: { by: answer.type === 'aborted' ? 'unanswered' : 'declined' } };
}
