import type { Model, ModelEvent, ModelRequest } from '../../../src/model/model.ts';
import type { ResponseItem } from '../../../src/protocol/generated/types.ts';
import { Gate } from '../../support/gate.ts';
import { message, response, type Step } from '../../support/test-model.ts';

/** A response, or the function that makes it from the request. */
export type AgentResponse = readonly Step[] | ((request: ModelRequest) => readonly Step[]);

/**
 * A model with a script for each agent: an agent's script is the one whose name its first own
 * message begins with.
 */
export class AgentsModel implements Model {
  readonly requests: { name: string; request: ModelRequest }[] = [];
  readonly #scripts = new Map<string, AgentResponse[]>();
  readonly #names = new Map<string, string>();

  constructor(scripts: Record<string, AgentResponse[]>) {
    for (const [name, responses] of Object.entries(scripts))
      this.#scripts.set(name, [...responses]);
  }

  /** The requests of the agent, in their order. */
  of(name: string): ModelRequest[] {
    return this.requests.filter((each) => each.name === name).map(({ request }) => request);
  }

  push(name: string, ...responses: AgentResponse[]): void {
    this.#scripts.set(name, [...(this.#scripts.get(name) ?? []), ...responses]);
  }

  async *stream(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent, void, undefined> {
    const name = this.#nameOf(request);
    this.requests.push({ name, request: structuredClone(request) });
    const next =
      this.#scripts.get(name)?.shift() ?? response(message(`${name} has nothing to say`));
    for (const step of typeof next === 'function' ? next(request) : next) {
      if (step instanceof Gate) await step.pass(signal);
      if (signal.aborted) return;
      if (!(step instanceof Gate)) yield step;
    }
  }

  #nameOf({ promptCacheKey, input }: ModelRequest): string {
    const known = this.#names.get(promptCacheKey);
    if (known !== undefined) return known;
    const texts = input.flatMap(userTexts);
    const name =
      [...this.#scripts.keys()].find((each) => texts.some((text) => text.startsWith(each))) ??
      'nobody';
    this.#names.set(promptCacheKey, name);
    return name;
  }
}

function userTexts(item: ResponseItem): string[] {
  if (item.type !== 'message' || item.role !== 'user' || typeof item.content === 'string')
    return [];
  return item.content.flatMap((part) => (part.type === 'input_text' ? [part.text] : []));
}

/** The outputs that a request has, by the ids of their calls. */
export function outputs({ input }: ModelRequest): Record<string, unknown> {
  return Object.fromEntries(
    input.flatMap((item) =>
      item.type === 'function_call_output' && typeof item.output === 'string'
        ? [[item.call_id, parsed(item.output)]]
        : [],
    ),
  );
}

/** The id of the agent that the call with this id has started. */
export function agentOf(request: ModelRequest, callId: string): string {
  const output = outputs(request)[callId];
  return typeof output === 'object' && output !== null && 'agent_id' in output
    ? String(output.agent_id)
    : '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
