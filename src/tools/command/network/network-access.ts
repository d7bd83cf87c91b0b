import type { Clock, Timer } from '../../../base/clock.ts';
import type { KeyedQueue } from '../../../base/keyed-queue.ts';
import { orAborted } from '../../../base/or-aborted.ts';
import type { PausableTimers } from '../../../base/pausable-timers.ts';
import type { ProxyRequest } from '../../../network/command-proxy.ts';
import { ProxyRefusal } from '../../../network/proxy-refusal.ts';
import type { AddressKind } from '../../../policy/network/address-kind.ts';
import { judgeTarget, type TargetVerdict } from '../../../policy/network/judge-target.ts';
import type { NetworkPolicy } from '../../../policy/network/network-policy.ts';
import { type NetworkTarget, targetUrl } from '../../../policy/network/network-target.ts';
import type { SessionGrants } from '../../../policy/permissions/session-grants.ts';
import type { ParsedRules } from '../../../policy/rules/command-rules.ts';
import type { AskForApproval } from '../../../protocol/generated/types.ts';
import type { Verdict } from '../../action.ts';
import { refusalText } from '../../denial.ts';
import { turnOfEventLoop } from './turn-of-event-loop.ts';

export interface NetworkAccessOptions {
  clock: Pick<Clock, 'setTimer'>;
  policy: NetworkPolicy;
  /** Null: nobody is asked about this command. */
  readonly approvalPolicy: AskForApproval | null;
  grants: SessionGrants;
  /** Reads the rules files. */
  rules(): Promise<ParsedRules>;
  /**
   * The questions of the thread's commands, by target. A question waits until no other command's is
   * open: its answer may be for all. Null: nobody sees the questions, so they need not wait for
   * each other.
   */
  readonly questions: KeyedQueue | null;
  /**
   * Asks the reviewers in force whether the command may reach a target. The signal withdraws the
   * question.
   */
  ask(question: HostQuestion, signal: AbortSignal): Promise<Verdict>;
  /** Paused while a question is open. */
  whileAsking: Pick<PausableTimers, 'pause' | 'resume'>;
  /** Called once for each of the first targets that are refused, for the model. */
  tell(refused: RefusedTarget): void;
}

/** The question whether a command may reach a target. */
export interface HostQuestion {
  target: NetworkTarget;
  /** For the person who decides. */
  reason: string;
  /** Whether a rule that allows the host would make the question unnecessary. */
  settles: boolean;
}

/** A connection that a command did not get, and why. */
interface RefusedTarget {
  url: string;
  reason: string;
}

/** A question that is open, or waits until another command's is answered. */
interface OpenQuestion {
  /** Null: the target is allowed in the meantime. */
  verdict: Promise<Verdict | null>;
  /** The connections that wait for it. */
  waiting: number;
  /** Withdraws it. */
  withdrawn: AbortController;
  /** Set while no connection waits. */
  timer: Timer | null;
}

/**
 * The time that a question stays open when the last connection that waited for it is gone: programs
 * try again.
 */
const GONE_MS_MAX = 10_000;
/** Questions of one command that are open at a time. */
const QUESTIONS_MAX = 16;
/** Answers that are remembered. A command that asks for more hosts is refused. */
const ANSWERS_MAX = 1000;
/** Refusals that the model is told of. */
const TOLD_MAX = 10;

/**
 * Decides about the connections of one command: by the configuration, the rules and the grants, and
 * by asking. An answer holds for the target (host, port and protocol) until the command ends, so
 * that a program which tries again causes no second question.
 */
export class NetworkAccess {
  readonly #deps: NetworkAccessOptions;
  readonly #answers = new Map<string, Verdict>();
  readonly #questions = new Map<string, OpenQuestion>();
  /** The targets that the model was told of. */
  readonly #told = new Set<string>();

  constructor(deps: NetworkAccessOptions) {
    this.#deps = deps;
  }

  /** Returns the kinds of addresses that the request may reach. Rejects with a `ProxyRefusal`. */
  async decide(request: ProxyRequest, signal: AbortSignal): Promise<readonly AddressKind[]> {
    const { target } = request;
    const url = targetUrl(target);
    const judged = await this.#judge(request);
    if (judged.verdict === 'allow') return judged.reaches;
    const verdict = this.#answers.get(url) ?? (await this.#ask(request, signal));
    if (verdict === null) return this.decide(request, signal);
    if ('allow' in verdict) return judged.reaches;
    throw this.#refuse(
      url,
      new ProxyRefusal(
        'declined',
        refusalText(verdict.deny, `The user did not allow this command to reach ${target.host}.`),
      ),
    );
  }

  /** Throws a `ProxyRefusal` for what nobody is asked about. */
  async #judge({
    target,
    method,
  }: ProxyRequest): Promise<Exclude<TargetVerdict, { verdict: 'refuse' }>> {
    const { policy, approvalPolicy, grants } = this.#deps;
    const { networkRules, problems } = await this.#deps.rules();
    await turnOfEventLoop();
    const url = targetUrl(target);
    const answer = this.#answers.get(url);
    const isGranted = grants.allowsTarget(url) || (answer !== undefined && 'allow' in answer);
    const judged = judgeTarget(target, {
      policy,
      approvalPolicy,
      rules: networkRules,
      hasProblems: problems.length > 0,
      isGranted,
      method,
    });
    if (judged.verdict === 'refuse')
      throw this.#refuse(url, new ProxyRefusal(judged.by, judged.reason));
    return judged;
  }

  /** Withdraws all questions. */
  close(): void {
    for (const [url, question] of this.#questions) this.#withdraw(url, question);
  }

  /**
   * Asks once for all requests for the same target. Returns null if it is allowed in the meantime.
   */
  async #ask(request: ProxyRequest, signal: AbortSignal): Promise<Verdict | null> {
    const url = targetUrl(request.target);
    const question = this.#questions.get(url) ?? this.#open(url, request);
    question.timer?.clear();
    question.waiting++;
    const verdict = await orAborted(question.verdict, signal);
    if (--question.waiting === 0 && this.#questions.get(url) === question) {
      question.timer = this.#deps.clock.setTimer(() => this.#withdraw(url, question), GONE_MS_MAX);
    }
    if (signal.aborted || question.withdrawn.signal.aborted)
      throw new ProxyRefusal('busy', 'The connection was closed before the answer.');
    return verdict;
  }

  #open(url: string, request: ProxyRequest): OpenQuestion {
    const { whileAsking, questions } = this.#deps;
    if (this.#questions.size >= QUESTIONS_MAX || this.#answers.size >= ANSWERS_MAX) {
      throw this.#refuse(url, new ProxyRefusal('busy', 'This command asks for too many hosts.'));
    }
    const withdrawn = new AbortController();
    const ask = () => this.#askInTurn(request, withdrawn.signal);
    const verdict = (questions === null ? ask() : questions.run(url, ask)).finally(() =>
      this.#end(url, question),
    );
    const question: OpenQuestion = { verdict, waiting: 0, withdrawn, timer: null };
    verdict.catch(() => {});
    this.#questions.set(url, question);
    whileAsking.pause();
    return question;
  }

  #withdraw(url: string, question: OpenQuestion): void {
    question.withdrawn.abort();
    this.#end(url, question);
  }

  #end(url: string, question: OpenQuestion): void {
    question.timer?.clear();
    if (this.#questions.get(url) !== question) return;
    this.#questions.delete(url);
    if (this.#questions.size === 0) this.#deps.whileAsking.resume();
  }

  /**
   * The answer to another command may decide, too. No answer counts after the question was
   * withdrawn.
   */
  async #askInTurn(request: ProxyRequest, signal: AbortSignal): Promise<Verdict | null> {
    const { target } = request;
    if (signal.aborted) return null;
    const judged = await this.#judge(request);
    if (judged.verdict === 'allow' || signal.aborted) return null;
    const { reason, settles } = judged;
    const verdict = await this.#deps.ask({ target, reason, settles }, signal);
    if (signal.aborted) return null;
    this.#answers.set(targetUrl(target), verdict);
    if ('allow' in verdict && verdict.scope === 'session')
      this.#deps.grants.allowTarget(targetUrl(target));
    return verdict;
  }

  /**
   * To be called when the connection to a target has failed: the addresses of a name are known only
   * then.
   */
  notReached(target: NetworkTarget, error: unknown): void {
    if (error instanceof ProxyRefusal && error.code === 'local')
      this.#refuse(targetUrl(target), error);
  }

  #refuse(url: string, refusal: ProxyRefusal): ProxyRefusal {
    if (this.#told.size < TOLD_MAX && !this.#told.has(url)) {
      this.#told.add(url);
      this.#deps.tell({ url, reason: refusal.message });
    }
    return refusal;
  }
}
