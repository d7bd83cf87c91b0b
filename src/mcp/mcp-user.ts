import type { McpAnswer, McpQuestion } from './messages/mcp-host.ts';

/** The state of a server. */
export type McpServerState =
  | { status: 'starting' }
  | { status: 'ready' }
  | { status: 'failed'; error: string; needsLogin: boolean }
  | { status: 'stopped' };

/** A user of a server, such as a thread. */
export interface McpUser {
  /** The absolute working directory of the user. It may change. */
  readonly root: string;
  onState(state: McpServerState): void;
  /**
   * The server asks in the course of a call of this user. `tag`: what the user gave with the call.
   */
  onQuestion(question: AskedQuestion, tag: unknown, signal: AbortSignal): Promise<McpAnswer>;
}

/** A user whose questions nobody answers. `root`: its absolute working directory. */
export function unattended(root: string): McpUser {
  return {
    root,
    onState: () => {},
    onQuestion: async () => ({ error: { code: -32600, message: 'nobody can be asked' } }),
  };
}

/** A question for a person or a model. */
export type AskedQuestion = Extract<McpQuestion, { kind: 'elicitation' | 'sampling' }>;
