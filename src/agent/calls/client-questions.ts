import type { Clock } from '../../base/clock.ts';
import { PausableTimers } from '../../base/pausable-timers.ts';
import type { Answer } from '../../protocol/answer.ts';
import type { AskingAgent, ServerRequests, ThreadActiveFlag } from '../../protocol/generated/types.ts';
import { spawnSource } from '../../store/spawn-source.ts';
import type { ThreadRecord } from '../../store/thread-store.ts';
import type { ClientRequest } from '../../tools/action.ts';
import type { ClientChannel } from '../client-channel.ts';
import type { Outbox } from '../outbox.ts';
import type { ThreadState } from '../thread-state.ts';

/** How many questions clients ask their users by themselves, and whether deadlines are paused for them. */
export interface ElicitationCount {
  count: number;
  paused: boolean;
}

interface ClientQuestionsDeps {
  state: ThreadState;
  outbox: Outbox;
  clients: ClientChannel;
  clock: Clock;
}

/** Sends requests to the clients of one thread, and waits for their answers. */
export class ClientQuestions {
  readonly #deps: ClientQuestionsDeps;
  readonly #deadlines: PausableTimers;
  #elicitations = 0;

  constructor(deps: ClientQuestionsDeps) {
    this.#deps = deps;
    this.#deadlines = new PausableTimers(deps.clock);
  }

  /** A client asks its user something by itself. While such a question is open, no deadline passes. */
  beginElicitation(): ElicitationCount {
    this.#elicitations++;
    this.#deadlines.pause();
    return { count: this.#elicitations, paused: true };
  }

  /** Such a question has ended. Returns null if there was none. */
  endElicitation(): ElicitationCount | null {
    if (this.#elicitations === 0) return null;
    this.#elicitations--;
    if (this.#elicitations === 0) this.#deadlines.resume();
    return { count: this.#elicitations, paused: this.#elicitations > 0 };
  }

  /** How long clients have to answer, in milliseconds; null: without limit. */
  get answerMsMax(): number | null {
    return this.#deps.state.configuration.approvalTimeoutMs;
  }

  /** Does the work, and shows the thread as waiting meanwhile. Does not wait until clients are told of the end. */
  async whileWaiting<T>(flag: ThreadActiveFlag, work: () => Promise<T>): Promise<T> {
    await this.#wait(flag, 1);
    try {
      return await work();
    } finally {
      void this.#wait(flag, -1);
    }
  }

  /** Asks the clients. If none answers within `answerMsMax`, the answer is `timeout`. Never rejects. */
  async ask<Method extends keyof ServerRequests>(
    request: ClientRequest<Method>,
    signal: AbortSignal,
  ): Promise<Answer<ServerRequests[Method]['result']>> {
    const { state, clients } = this.#deps;
    const agent = askingAgent(state.record);
    const asked = agent === null ? request : { ...request, params: { ...request.params, agent } };
    const ms = this.answerMsMax;
    const audience = { threadId: state.id };
    if (ms === null) return clients.ask(audience, asked, signal);
    const timeout = new AbortController();
    const timer = this.#deadlines.set(() => timeout.abort(), ms);
    try {
      const answer = await clients.ask(audience, asked, AbortSignal.any([signal, timeout.signal]));
      return answer.type === 'aborted' && !signal.aborted ? { type: 'timeout', ms } : answer;
    } finally {
      timer.clear();
    }
  }

  async #wait(flag: ThreadActiveFlag, by: 1 | -1): Promise<void> {
    const { state, outbox } = this.#deps;
    if (!state.wait(flag, by)) return;
    await outbox.announce([{ method: 'thread/status/changed', params: { threadId: state.id, status: state.shownStatus } }]);
  }
}

/** The agent whose thread this is, as clients of other threads see it; null if it is the thread of no agent. */
function askingAgent({ id, source }: ThreadRecord): AskingAgent | null {
  const spawned = spawnSource(source);
  if (spawned === null) return null;
  const { agent_nickname, agent_role, parent_thread_id } = spawned;
  return { threadId: id, nickname: agent_nickname ?? null, role: agent_role ?? null, parentThreadId: parent_thread_id };
}
