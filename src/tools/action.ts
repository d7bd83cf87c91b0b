import type { JsonObject } from '../base/json-value.ts';
import type { Permit } from '../policy/permissions/permit.ts';
import type { SessionGrants } from '../policy/permissions/session-grants.ts';
import type { Announcement } from '../protocol/announcement.ts';
import type { Answer } from '../protocol/answer.ts';
import type {
  DynamicToolCallParams,
  DynamicToolCallResponse,
  FileChangeApprovalDecision,
  FunctionCallOutputBody,
  GuardianApprovalReviewAction,
  ItemApprovalReview,
  ServerRequests,
  TokenUsageBreakdown,
  UntimedItem,
} from '../protocol/generated/types.ts';
import type { LogEntry } from '../store/log-entry.ts';
import type { ThreadSettings } from '../store/thread-record.ts';
import { type Denial, type InterruptCause, refusalText } from './denial.ts';

/** The kinds of actions, for the code that decides about them. `other` needs no decision. */
export type ActionKind =
  | 'command'
  | 'stdin'
  | 'patch'
  | 'permissions'
  | 'mcpTool'
  | 'dynamicTool'
  | 'other';

/**
 * An action that a call has prepared and that is not performed yet. The agent takes each action
 * through the same steps: the parts of the turn can refuse it, policy judges it, reviewers answer
 * if policy asks, its item begins, it is performed, its item completes.
 */
export interface Action {
  readonly kind: ActionKind;
  /**
   * The item that shows the action to clients, as it begins. Null if clients do not see the action.
   */
  readonly item: UntimedItem | null;
  /** True: the item begins before the action is judged, so clients also see it if it is refused. */
  readonly isShownFirst?: true;
  /** Decides by policy and grants. Changes nothing. */
  judge(settings: ThreadSettings, grants: SessionGrants): Judgement | Promise<Judgement>;
  /**
   * Describes the action for a review that policy does not ask for, before it is performed with
   * this permit. Absent: it is never reviewed without a question of policy.
   */
  describe?(permit: Permit): PlannedAction | Promise<PlannedAction>;
  /**
   * Returns the question whether it may be performed with this permit, which policy does not ask.
   * Absent: nobody can be asked.
   */
  approval?(permit: Permit, reason: string): Ask;
  /**
   * Performs the action within the permit. `shown` is its item, which has begun. Null: the action
   * has no item.
   */
  perform(permit: Permit, shown: OpenItem | null, host: ActionHost): Promise<ActionOutcome>;
  /**
   * Returns the outcome if the action is not performed. The outcome's `item` is used only if the
   * item has begun.
   */
  refused(denial: Denial): ActionOutcome;
  /**
   * Releases the resources that `prepare` took, such as locks and open files. Called once at the
   * end, in every case.
   */
  close?(): Promise<void>;
}

/**
 * The decision of policy about an action. The reason of a refusal is for the model. `demand`: why a
 * check of the action demands an approval, even if policy needs none.
 */
export type Judgement = { run: Permit; demand?: string } | { ask: Ask } | { refuse: string };

/** A question that must be answered before something may be done. */
export interface Ask {
  /** The permit if everything that was asked for is allowed. */
  readonly permit: Permit;
  /** Describes the action for a reviewer that is not a person. */
  describe(): PlannedAction | Promise<PlannedAction>;
  /**
   * Withdraws the question when it aborts. To be set if the action runs on while its question is
   * open: a verdict that ends the turn then ends it at once.
   */
  readonly signal?: AbortSignal;
  /** The subject of the question, if it is not the call of the action itself. For hooks. */
  readonly beyondCall?: string;
  /** Sends the question to the clients of the thread, and returns the verdict of their answer. */
  askPerson(ask: AskClients): Promise<Verdict>;
  /** Stores the permissions that the verdict gives beyond this action. */
  keep?(verdict: Allowed, host: ActionHost): Promise<void>;
}

/** An action that is planned, for a reviewer that is not a person. */
export interface PlannedAction {
  /** The id of the item that shows the action, or the model's id for the call. */
  targetItemId: string;
  /** The action as clients see it beside the review. */
  shown: GuardianApprovalReviewAction;
  /** Everything that will be done, for a model. The same action has the same JSON. */
  planned: JsonObject;
  /**
   * The state of the files that it depends on: with other files it is another action. Absent: it
   * depends on none. Null: heddle cannot tell all of them, so it is another action each time.
   */
  files?: JsonObject | null;
  /** Statements of the agent and of policy about the action, which may differ each time. */
  claims?: JsonObject;
  /**
   * The item of a running command that the action concerns, if the action has no item of its own.
   */
  item?: OpenItem;
}

/**
 * How long a permission is valid: for this action, for the turn, for the session of the thread, or
 * permanently.
 */
export type PermitScope = 'once' | 'turn' | 'session' | 'always';

export interface Allowed {
  allow: Permit;
  scope: PermitScope;
  /** With `always`: the words of the rule that allows the command from now on. */
  rule?: readonly string[];
}

export type Verdict = Allowed | { deny: Denial };

/**
 * The result of an action. A failure is also an outcome, which the model reads, and never an
 * exception.
 */
export interface ActionOutcome {
  /** The output for the model. */
  output: FunctionCallOutputBody;
  success: boolean;
  /** The user's own words are the output. */
  author?: 'user';
  /** The tools that a search has found, as the provider's API takes them. */
  foundTools?: readonly JsonObject[];
  /**
   * The item as it completes. `runsOn`: the action completes its item itself, later. Absent if the
   * action has no item.
   */
  item?: UntimedItem | 'runsOn';
  /** The command in the background that the call has begun or reached. `isOver`: it has ended. */
  session?: { number: number; isOver: boolean };
  /** Notifications for clients after the completed item. */
  after?: readonly Announcement[];
}

/**
 * The parts of the agent that an action uses while it is performed. The action may outlive the
 * turn.
 */
export interface ActionHost {
  /**
   * Asks the reviewers for more than the permit allows, such as to run again outside the sandbox.
   */
  requestMore(ask: Ask): Promise<Verdict>;
  /**
   * Asks the clients a question that is not an approval. Meanwhile the thread is shown as waiting
   * for the user's input. The question is taken back when `withdrawn` aborts.
   */
  askUser: AskClients;
  /** Asks the client that provides the thread's tools to run one. Never rejects. */
  callClientTool(params: DynamicToolCallParams): Promise<Answer<DynamicToolCallResponse>>;
  /** The time that clients have to answer, in milliseconds. Null: no limit. */
  readonly answerMsMax: number | null;
  /**
   * Adds tokens that the action's own request to a model has used to those of the thread. Rejects
   * with the store's error.
   */
  countTokens(usage: TokenUsageBreakdown): Promise<void>;
  /** Sends a notification to the thread's clients, in order with the thread's other events. */
  emit(announcement: Announcement): Promise<void>;
  /** Aborts when the turn is interrupted. */
  readonly signal: AbortSignal;
  /**
   * Aborts when the user adds input to the turn: an action that only waits ends then, so that the
   * model reads it.
   */
  readonly newInput: AbortSignal;
  /** Aborts when the turn ends, however it ends. From then on nobody can be asked. */
  readonly turnOver: AbortSignal;
  /** Null unless the turn was interrupted. */
  readonly interruptCause: InterruptCause | null;
}

/** A request from the server to its clients. */
export interface ClientRequest<Method extends keyof ServerRequests> {
  method: Method;
  params: ServerRequests[Method]['params'];
}

/**
 * Sends a request to the clients of the thread; the first answer counts. Never rejects. The end of
 * the turn gives an answer of type `aborted`.
 */
export type AskClients = <Method extends keyof ServerRequests>(
  request: ClientRequest<Method>,
  withdrawn?: AbortSignal,
) => Promise<Answer<ServerRequests[Method]['result']>>;

/** An item that has begun. It may complete after its turn has ended. */
export interface OpenItem {
  /** The time at which it began, on the monotonic clock, in milliseconds. */
  readonly startedMs: number;
  /** The item as it is now. */
  readonly item: UntimedItem;
  /**
   * Updates the item; a function is called when the item is saved. Saves at most once per interval,
   * so a killed server loses at most the changes of one interval. Sends the announcement at once.
   */
  update(item: UntimedItem | (() => UntimedItem), announcement?: Announcement): void;
  /**
   * Adds a review of the action to the item, or replaces the one with the same id: all later
   * versions of the item have it. Saves the item, and then sends the announcements. Rejects with
   * the store's error.
   */
  review(review: ItemApprovalReview, announce: readonly Announcement[]): Promise<void>;
  /** Null while clients keep up with notifications. Otherwise resolves when they have caught up. */
  drained(): Promise<void> | null;
  /**
   * Stores the whole item, with other entries, and tells clients. To be called once. If the store
   * fails, both happen as soon as it works again. `others` is called in the moment in which they
   * get their place among what the thread stores.
   */
  complete(item: UntimedItem, others?: () => readonly LogEntry[]): Promise<void>;
}

/** An action that needs no decision and has no item. */
export function plainAction(
  perform: (host: ActionHost) => Promise<ActionOutcome> | ActionOutcome,
): Action {
  return {
    kind: 'other',
    item: null,
    judge: () => ({ run: UNCONFINED }),
    perform: async (_permit, _shown, host) => perform(host),
    refused: (denial) => failed(refusalText(denial)),
  };
}

/** The permit of actions that run without a sandbox. */
export const UNCONFINED: Permit = { sandboxed: false, readOnly: false, askIfRefused: false };

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
