import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { ResponseItem } from '../../../src/protocol/generated/types.ts';
import { ProviderServer, sse } from '../../model/provider-server.ts';
import { KEY_START, STALL, type TurnPlan } from './turn-plan.ts';

interface RequestBody {
  input: ResponseItem[];
}

/** A turn that the model answers. */
interface Answered {
  plan: TurnPlan;
  asked: number;
  /** Lets the model go on; null: it does not stall. */
  release: (() => void) | null;
  /** True: it stalls no more. */
  released: boolean;
}

/**
 * A provider on loopback that answers each turn as planned, and checks that every prompt is
 * consistent.
 */
export class PlannedModel {
  /** The faults of prompts. */
  readonly problems: string[] = [];
  readonly #provider: ProviderServer;
  readonly #turns = new Map<string, Answered>();
  /** Called when a turn begins to stall. */
  onStall: () => void = () => {};

  private constructor(provider: ProviderServer) {
    this.#provider = provider;
  }

  static async start(): Promise<PlannedModel> {
    const provider = await ProviderServer.start((res, req, body) => {
      if (req.method === 'POST') return model.#answer(res, body as RequestBody);
      // The server asks for the list of models: this provider has none.
      res.writeHead(404).end();
    });
    const model: PlannedModel = new PlannedModel(provider);
    return model;
  }

  get port(): number {
    return this.#provider.port;
  }

  plan(plan: TurnPlan): void {
    this.#turns.set(plan.key, { plan, asked: 0, release: null, released: false });
  }

  isStalled(key: string): boolean {
    return this.#turns.get(key)?.release != null;
  }

  /** Lets a turn go on, now and at all later stalls. */
  release(key: string): void {
    const turn = this.#turns.get(key);
    if (turn === undefined) return;
    turn.released = true;
    turn.release?.();
  }

  forget(key: string): void {
    this.release(key);
    this.#turns.delete(key);
  }

  close(): Promise<void> {
    return this.#provider[Symbol.asyncDispose]();
  }

  async #answer(res: ServerResponse, { input }: RequestBody): Promise<void> {
    this.#provider.requests.length = 0;
    this.problems.push(...promptProblems(input));
    const key = lastUserText(input);
    const turn = this.#turns.get(key);
    const response = turn?.plan.responses[turn.asked++];
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    if (turn === undefined || response === undefined) {
      this.problems.push(
        `the model was asked once too often, for the message ${JSON.stringify(key)}`,
      );
      res.end();
      return;
    }
    for (const step of response) {
      if (step === STALL) await this.#stall(turn, res);
      else res.write(sse(step));
      if (turn.plan.eventByEvent) await setImmediate();
    }
    res.end();
  }

  async #stall(turn: Answered, res: ServerResponse): Promise<void> {
    if (turn.released || res.destroyed) return;
    await new Promise<void>((resolve) => {
      turn.release = resolve;
      res.once('close', resolve);
      this.onStall();
    });
    turn.release = null;
  }
}

/** Each call has one output, and nothing is there twice. */
function promptProblems(input: ResponseItem[]): string[] {
  const calls = input.flatMap((item) =>
    item.type === 'function_call' || item.type === 'custom_tool_call' ? [item.call_id] : [],
  );
  const outputs = input.flatMap((item) =>
    item.type === 'function_call_output' || item.type === 'custom_tool_call_output'
      ? [item.call_id ?? '']
      : [],
  );
  const messages = input.flatMap((item) =>
    item.type === 'message' && item.role === 'assistant' ? [textOf(item)] : [],
  );
  const users = userTexts(input);
  return [
    ...twice(calls).map((id) => `a prompt has the call ${id} twice`),
    ...twice(outputs).map((id) => `a prompt has the output of ${id} twice`),
    ...calls
      .filter((id) => !outputs.includes(id))
      .map((id) => `a prompt lacks the output of ${id}`),
    ...outputs
      .filter((id) => !calls.includes(id))
      .map((id) => `a prompt lacks the call of the output ${id}`),
    ...twice(messages).map((text) => `a prompt has the message "${text}" twice`),
    ...twice(users).map((text) => `a prompt has the user's message "${text}" twice`),
  ];
}

export function twice(list: readonly string[]): string[] {
  return [...new Set(list.filter((entry, index) => list.indexOf(entry) !== index))];
}

/** The keys of the user's messages; other messages come from the server. */
function userTexts(input: ResponseItem[]): string[] {
  const parts = input.flatMap((item) =>
    item.type === 'message' && item.role === 'user' ? item.content.slice(0, 1) : [],
  );
  return parts.flatMap((part) =>
    'text' in part && part.text.startsWith(KEY_START) ? [part.text] : [],
  );
}

function lastUserText(input: ResponseItem[]): string {
  return userTexts(input).at(-1) ?? '';
}

function textOf(item: Extract<ResponseItem, { type: 'message' }>): string {
  return item.content.map((part) => ('text' in part ? part.text : '')).join('');
}
