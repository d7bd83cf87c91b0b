import type { PausableTimers } from '../../base/pausable-timers.ts';
import type { Answer } from '../../protocol/answer.ts';
import type {
  AskingAgent,
  ServerRequests,
  ThreadActiveFlag,
} from '../../protocol/generated/types.ts';
import { spawnSource } from '../../store/spawn-source.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import type { ClientRequest } from '../../tools/action.ts';
import type { ClientChannel } from '../client-channel.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { ThreadState } from '../thread-state.ts';

/**
 * How many questions clients ask their users by themselves, and whether deadlines are paused for
 * them.
 */
export interface ElicitationCount {
  count: number;
  paused: boolean;
}

/**
 * A client that asks its user something. `gone` aborts when it can not say any more that the
 * question has ended.
 */
interface AskingClient {
  /** The number of its connection. */
  id: number;
  gone: AbortSignal;
}

/** The open questions of one client. */
interface OwnQuestions {
  count: number;
  /** To be called when the last of them has ended. */
  forget(): void;
}

interface ClientQuestionsDeps {
  /** Pauses while a client asks its user something. */
  waits: PausableTimers;
  state: ThreadState;
  outbox: Outbox;
  clients: ClientChannel;
}

/** Sends requests to the clients of one thread, and waits for their answers. */
export class ClientQuestions {
  readonly #deps: ClientQuestionsDeps;
  /** The questions that clients ask by themselves, by connection. */
  readonly #elicitations = new Map<number, OwnQuestions>();

  constructor(deps: ClientQuestionsDeps) {
    this.#deps = deps;
  }

  /**
   * A client asks its user something by itself. While such a question is open, the time of other
   * questions and of waits for commands does not pass. The questions of a client end with its
   * connection.
   */
  beginElicitation(client: AskingClient): ElicitationCount {
    const own = this.#elicitations.get(client.id) ?? this.#ownQuestions(client);
    own.count++;
    this.#deps.waits.pause();
    return this.#elicitationCount();
  }

  /**
   * Such a question has ended: of this client, if it has one, else of another. Returns null if
   * there is none.
   */
  endElicitation({ id }: AskingClient): ElicitationCount | null {
    const [first] = this.#elicitations.keys();
    const owner = this.#elicitations.has(id) ? id : first;
    const own = owner === undefined ? undefined : this.#elicitations.get(owner);
    if (own === undefined) return null;
    own.count--;
    if (own.count === 0) own.forget();
    return this.#elicitationCount();
  }

  #ownQuestions({ id, gone }: AskingClient): OwnQuestions {
    const forget = () => {
      gone.removeEventListener('abort', forget);
      this.#elicitations.delete(id);
      if (this.#elicitations.size === 0) this.#deps.waits.resume();
    };
    const own = { count: 0, forget };
    this.#elicitations.set(id, own);
    gone.addEventListener('abort', forget);
    return own;
  }

  #elicitationCount(): ElicitationCount {
    const count = [...this.#elicitations.values()].reduce((sum, own) => sum + own.count, 0);
    return { count, paused: count > 0 };
  }

  /** How long clients have to answer, in milliseconds; null: without limit. */
  get answerMsMax(): number | null {
    return this.#deps.state.configuration.tools.approvalTimeoutMs;
  }

  /**
   * Does the work, and shows the thread as waiting meanwhile. Does not wait until clients are told
   * of the end.
   */
  async whileWaiting<T>(flag: ThreadActiveFlag, work: () => Promise<T>): Promise<T> {
    await this.#wait(flag, 1);
    try {
      return await work();
    } finally {
      void this.#wait(flag, -1);
    }
  }

  /**
   * Asks the clients. If none answers within `answerMsMax`, the answer is `timeout`. Never rejects.
   */
  async ask<Method extends keyof ServerRequests>(
    request: ClientRequest<Method>,
    signal: AbortSignal,
  ): Promise<Answer<ServerRequests[Method]['result']>> {
    const { state, clients } = this.#deps;
    const agent = askingAgent(state.record);
    const asked = agent === null ? request : { ...request, params: { ...request.params, agent } };
    return this.#inTime(this.answerMsMax, signal, (limited) =>
      clients.ask({ threadId: state.id }, asked, limited),
    );
  }

  /**
   * Asks the client that provides the thread's tools, and gives it as much time as the
   * configuration says. Never rejects.
   */
  async askToolProvider<Method extends keyof ServerRequests>(
    request: ClientRequest<Method>,
    signal: AbortSignal,
  ): Promise<Answer<ServerRequests[Method]['result']>> {
    const { state, clients } = this.#deps;
    const audience = { threadId: state.id, only: 'toolProvider' as const };
    return this.#inTime(state.configuration.tools.clientToolTimeoutMs, signal, (limited) =>
      clients.ask(audience, request, limited),
    );
  }

  /** Null: without limit. While a client asks its user something, the time does not pass. */
  async #inTime<Result>(
    ms: number | null,
    signal: AbortSignal,
    ask: (signal: AbortSignal) => Promise<Answer<Result>>,
  ): Promise<Answer<Result>> {
    if (ms === null) return ask(signal);
    const timeout = new AbortController();
    const timer = this.#deps.waits.setTimer(() => timeout.abort(), ms);
    try {
      const answer = await ask(AbortSignal.any([signal, timeout.signal]));
      return answer.type === 'aborted' && !signal.aborted ? { type: 'timeout', ms } : answer;
    } finally {
      timer.clear();
    }
  }

  async #wait(flag: ThreadActiveFlag, by: 1 | -1): Promise<void> {
    const { state, outbox } = this.#deps;
    if (!state.wait(flag, by)) return;
    await outbox.announce([
      {
        method: 'thread/status/changed',
        params: { threadId: state.id, status: state.shownStatus },
      },
    ]);
  }
}

/**
 * The agent whose thread this is, as clients of other threads see it; null if it is the thread of
 * no agent.
 */
function askingAgent({ id, source }: ThreadRecord): AskingAgent | null {
  const spawned = spawnSource(source);
  if (spawned === null) return null;
  const { agent_nickname, agent_role, parent_thread_id } = spawned;
  return {
    threadId: id,
    nickname: agent_nickname ?? null,
    role: agent_role ?? null,
    parentThreadId: parent_thread_id,
  };
}
