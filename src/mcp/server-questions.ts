import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JsonObject } from '../base/json-value.ts';
import type { PausableTimers } from '../base/pausable-timers.ts';
import type { AskedQuestion, McpUser } from './mcp-user.ts';
import type { McpAnswer, McpQuestion, McpRequest } from './messages/mcp-host.ts';

/** A request to the server that is not answered yet. */
interface OpenCall {
  user: McpUser | null;
  op: McpRequest['op'];
  /** The tag that the user gave with the call. Undefined: nobody can be asked in its course. */
  tag: unknown;
  /** The time of the call, which does not pass while the server waits for an answer. */
  timers: PausableTimers;
  /** How many questions the user has not answered yet. Absent: none. */
  questions?: number;
  /** Aborts when it is answered, or is given up. */
  over: AbortSignal;
}

interface ServerQuestionsDeps {
  users: ReadonlySet<McpUser>;
}

/** The requests in whose course servers ask. They answer the others by themselves. */
const ASKING: ReadonlySet<McpRequest['op']> = new Set(['callTool', 'readResource']);

const NO_CALL: McpAnswer = {
  error: { code: -32600, message: 'the question belongs to no open call of a thread' },
};

/** Answers what a server asks, by the user whose call is open. */
export class ServerQuestions {
  readonly #deps: ServerQuestionsDeps;
  readonly #calls = new Map<number, OpenCall>();

  constructor(deps: ServerQuestionsDeps) {
    this.#deps = deps;
  }

  begin(call: number, open: OpenCall): void {
    this.#calls.set(call, open);
  }

  end(call: number): void {
    this.#calls.delete(call);
  }

  /** `call`: the request in whose course the server asks; null: unknown. */
  async answer(
    call: number | null,
    question: McpQuestion,
    signal: AbortSignal,
  ): Promise<McpAnswer> {
    if (question.kind === 'roots') return { result: { roots: this.#roots() } };
    if (question.kind !== 'elicitation' && question.kind !== 'sampling') return NO_CALL;
    const open = this.#callOf(call, question);
    if (open?.user == null)
      return question.kind === 'elicitation' ? { result: { action: 'decline' } } : NO_CALL;
    open.questions = (open.questions ?? 0) + 1;
    open.timers.pause();
    try {
      return await open.user.onQuestion(question, open.tag, AbortSignal.any([signal, open.over]));
    } finally {
      open.questions--;
      if (open.questions === 0) open.timers.resume();
    }
  }

  /**
   * The call that is known. Else the last one of the thread that the question names, or of the only
   * one that has requests open: a question that may be another thread's reaches nobody.
   */
  #callOf(call: number | null, { params }: AskedQuestion): OpenCall | null {
    if (call !== null) return this.#calls.get(call) ?? null;
    const open = [...this.#calls.values()].filter(({ op }) => ASKING.has(op));
    const named = (params._meta as JsonObject | undefined)?.threadId;
    if (typeof named === 'string') return open.findLast(({ tag }) => isTagOf(tag, named)) ?? null;
    const isClear = new Set(open.map(({ user }) => user)).size === 1;
    return isClear ? (open.findLast(({ tag }) => tag !== undefined) ?? null) : null;
  }

  #roots(): { uri: string; name: string }[] {
    const paths = new Set([...this.#deps.users].map(({ root }) => root));
    return [...paths].map((path) => ({
      uri: pathToFileURL(path).href,
      name: basename(path) || path,
    }));
  }
}

function isTagOf(tag: unknown, threadId: string): boolean {
  return typeof tag === 'object' && tag !== null && 'threadId' in tag && tag.threadId === threadId;
}
