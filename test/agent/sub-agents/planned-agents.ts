import { Random } from '../../process/hostile/random.ts';

/** A model response that was planned. */
export interface Planned {
  calls: { name: string; args: object; callId: string }[];
  /** The message of a response without calls. */
  text: string;
  /** Whether the response never ends. */
  hangs: boolean;
  inputTokens: number;
  outputTokens: number;
}

/** Commands that the planned agents run have this in their command line, so that those that are left are found. */
export function commandTag(seed: number): string {
  return `36000.${4_711_000 + seed}`;
}

/** Plans the responses for the agents of one tree. The same seed gives the same choices for the same requests. */
export class PlannedAgents {
  /** By thread: the tokens of the responses that the model has ended, in their order. */
  readonly ended = new Map<string, number[]>();
  readonly #seed: number;
  readonly #asked = new Map<string, number>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** The response to a thread's next request. `agentIds`: the agents that the thread can know. */
  next(threadId: string, agentIds: readonly string[], { offersAgents }: { offersAgents: boolean }): Planned {
    const number = (this.#asked.get(threadId) ?? 0) + 1;
    this.#asked.set(threadId, number);
    const random = new Random(hash(`${this.#seed}/${threadId}/${number}`));
    const calls: Planned['calls'] = [];
    const call = (name: string, args: object) => calls.push({ name, args, callId: `c${number}_${calls.length}` });
    const known = agentIds.length > 0 ? random.pick(agentIds) : null;
    const ends = random.chance(number / 10);
    for (let left = ends ? 0 : random.between(1, 2); left > 0; left--) {
      const kind = random.below(10);
      if (kind < 4 && offersAgents)
        call('spawn_agent', { message: `task ${number}`, ...(random.chance(0.2) ? { fork_context: true } : {}) });
      else if (kind < 6 && known !== null) call('wait_agent', { targets: [known] });
      else if (kind < 7 && known !== null) call('send_input', { target: known, message: 'more', interrupt: random.chance(0.4) });
      else if (kind < 8 && known !== null) call(random.chance(0.5) ? 'close_agent' : 'resume_agent', { target: known, id: known });
      else call('exec_command', { cmd: random.chance(0.5) ? 'true' : `sleep ${commandTag(this.#seed)}; true` });
    }
    return {
      calls,
      text: `answer ${number}`,
      hangs: random.chance(0.1),
      inputTokens: random.between(1, 500),
      outputTokens: random.between(1, 500),
    };
  }

  /** How many responses the model has ended, by thread. */
  mark(): ReadonlyMap<string, number> {
    return new Map([...this.ended].map(([threadId, tokens]) => [threadId, tokens.length]));
  }

  /** Forgets what a server has been given after its death. */
  backTo(mark: ReadonlyMap<string, number>): void {
    for (const [threadId, tokens] of this.ended) this.ended.set(threadId, tokens.slice(0, mark.get(threadId) ?? 0));
  }

  /** A response has been given whole. */
  gave(threadId: string, { inputTokens, outputTokens }: Planned): void {
    this.ended.set(threadId, [...(this.ended.get(threadId) ?? []), inputTokens + outputTokens]);
  }
}

function hash(text: string): number {
  let mixed = 0x811c9dc5;
  for (const character of text) mixed = Math.imul(mixed ^ character.charCodeAt(0), 0x01000193);
  return mixed >>> 0;
}

/** The ids of agents in the outputs of spawn_agent. */
export function agentIdsIn(text: string): string[] {
  return [...text.matchAll(/agent_id[^0-9a-f]{1,8}([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/g)].flatMap(([, id]) => id ?? []);
}
