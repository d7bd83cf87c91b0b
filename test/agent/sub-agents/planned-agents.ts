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

interface Choices {
  known: string | null;
  offersAgents: boolean;
  /** The thread's first response: it begins the tree. */
  isFirst: boolean;
}

/**
 * Commands that the planned agents run have this in their command line, so that those that are left
 * are found.
 */
export function commandTag(seed: number): string {
  return `36000.${4_711_000 + seed}`;
}

/**
 * Plans the responses for the agents of one tree. The same seed gives the same choices for the same
 * requests.
 */
export class PlannedAgents {
  /** By thread: the tokens of the responses that the model has ended, in their order. */
  readonly ended = new Map<string, number[]>();
  readonly #seed: number;
  readonly #asked = new Map<string, number>();
  /** A command that does not end by itself. */
  readonly #long: string;

  constructor(seed: number) {
    this.#seed = seed;
    this.#long = `sleep ${commandTag(seed)}; true`;
  }

  /** The response to a thread's next request. `agentIds`: the agents that the thread can know. */
  next(
    threadId: string,
    agentIds: readonly string[],
    { offersAgents }: { offersAgents: boolean },
  ): Planned {
    const number = (this.#asked.get(threadId) ?? 0) + 1;
    this.#asked.set(threadId, number);
    const random = new Random(hash(`${this.#seed}/${threadId}/${number}`));
    const known = agentIds.length > 0 ? random.pick(agentIds) : null;
    const isFirst = number === 1;
    const count = !isFirst && random.chance(number / 10) ? 0 : random.between(isFirst ? 2 : 1, 2);
    const calls = Array.from({ length: count }, (_, index) => ({
      ...this.#call(random, { known, offersAgents, isFirst }),
      callId: `c${number}_${index}`,
    }));
    return {
      calls,
      text: `answer ${number}`,
      hangs: !isFirst && random.chance(0.1),
      inputTokens: random.between(1, 500),
      outputTokens: random.between(1, 500),
    };
  }

  #call(random: Random, { known, offersAgents, isFirst }: Choices): { name: string; args: object } {
    const kind = isFirst && offersAgents ? 0 : random.below(10);
    const spawns = kind < 3 && offersAgents;
    if (spawns)
      return {
        name: 'spawn_agent',
        args: { message: 'a task', ...(random.chance(0.2) ? { fork_context: true } : {}) },
      };
    if (known === null || kind >= 8)
      return { name: 'exec_command', args: { cmd: random.chance(0.5) ? 'true' : this.#long } };
    if (kind < 6) return { name: 'wait_agent', args: { targets: [known] } };
    if (kind < 7)
      return {
        name: 'send_input',
        args: { target: known, message: 'more', interrupt: random.chance(0.4) },
      };
    return {
      name: random.chance(0.5) ? 'close_agent' : 'resume_agent',
      args: { target: known, id: known },
    };
  }

  /** How many responses the model has ended, by thread. */
  mark(): ReadonlyMap<string, number> {
    return new Map([...this.ended].map(([threadId, tokens]) => [threadId, tokens.length]));
  }

  /** Forgets what a server has been given after its death. */
  backTo(mark: ReadonlyMap<string, number>): void {
    for (const [threadId, tokens] of this.ended)
      this.ended.set(threadId, tokens.slice(0, mark.get(threadId) ?? 0));
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
  return [
    ...text.matchAll(/agent_id[^0-9a-f]{1,8}([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/g),
  ].flatMap(([, id]) => id ?? []);
}
