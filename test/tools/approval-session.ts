import type {
  CommandExecutionApprovalDecision,
  CommandExecutionRequestApprovalParams,
} from '../../src/protocol/generated/types.ts';
import { answer } from '../support/asking.ts';
import { functionCall, response, type ScriptedResponse } from '../support/test-model.ts';
import type { TestServer, TestServerOptions } from '../support/test-server.ts';
import {
  type CommandItem,
  commandServer,
  completed,
  done,
  FREE_CONFIG,
  modelOutput,
  runs,
  THREAD,
} from './command-server.ts';

/**
 * A configuration in which commands run in the sandbox and can write only in the thread's working
 * directory.
 */
export function confinedConfig(approvalPolicy: string): string {
  const config = FREE_CONFIG.replace('"never"', `"${approvalPolicy}"`).replace(
    '"danger-full-access"',
    '"workspace-write"',
  );
  return `${config}[sandbox_workspace_write]\nexclude_slash_tmp = true\n`;
}

/** The arguments of a command that asks to leave the sandbox. */
export const OUTSIDE = { sandbox_permissions: 'require_escalated', justification: 'It has to.' };

interface Reply {
  decision?: CommandExecutionApprovalDecision;
  /** Called while the question is open. */
  meanwhile?: () => void;
}

export interface SessionCall {
  /** The questions that were asked about it. */
  asked: CommandExecutionRequestApprovalParams[];
  /** The output that the model received. */
  output: string;
  /** Absent if it was refused, or is no command. */
  item: CommandItem | undefined;
}

/** A thread whose calls are made one by one, each in its own turn. */
export class ApprovalSession {
  readonly server: TestServer;
  readonly #answered = new Set<unknown>();
  #calls = 0;

  private constructor(server: TestServer) {
    this.server = server;
  }

  static async start(options: TestServerOptions): Promise<ApprovalSession> {
    return new ApprovalSession(await commandServer([], options));
  }

  /** The number of questions so far. */
  get questions(): number {
    return this.#answered.size;
  }

  /** Runs a command. Every question about it gets the same reply. */
  run(cmd: string, args: object = {}, reply: Reply = {}): Promise<SessionCall> {
    return this.#call((callId) => runs(cmd, args, callId), reply);
  }

  patch(text: string, reply: Reply = {}): Promise<SessionCall> {
    return this.#call(
      (callId) => response(functionCall('apply_patch', { input: text }, { callId })),
      reply,
    );
  }

  async #call(
    made: (callId: string) => ScriptedResponse,
    { decision = 'accept', meanwhile }: Reply,
  ): Promise<SessionCall> {
    const { client, model } = this.server;
    this.#calls += 1;
    const callId = `call_${this.#calls}`;
    model.push(made(callId), done);
    const { turn } = await client.request('turn/start', { threadId: THREAD, input: [] });
    const asked: SessionCall['asked'] = [];
    for (;;) {
      const next = await client.first(
        'a question or the end of the turn',
        ({ id, method, params }) => {
          if (method === 'turn/completed')
            return (params as { turn: { id: string } }).turn.id === turn.id;
          return /requestApproval$/.test(method ?? '') && !this.#answered.has(id);
        },
      );
      if (next.method === 'turn/completed') break;
      this.#answered.add(next.id);
      asked.push(next.params as CommandExecutionRequestApprovalParams);
      meanwhile?.();
      answer(client, { id: Number(next.id) }, { decision });
    }
    return {
      asked,
      output: modelOutput(this.server, callId),
      item: completed(this.server).find(({ id }) => id === callId),
    };
  }
}
