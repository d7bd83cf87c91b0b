import type { ServerRequests } from '../../src/protocol/generated/types.ts';
import type { Message, TestClient } from './test-client.ts';
import { functionCall, message, response, type Step } from './test-model.ts';

/** A request from the server to a client. */
export interface Asked<Method extends keyof ServerRequests> {
  id: number;
  method: Method;
  params: ServerRequests[Method]['params'];
}

/**
 * The `count`th question of a method that a client is shown, from 1, come already or still to come.
 */
export async function question<Method extends keyof ServerRequests>(
  client: TestClient,
  method: Method,
  count = 1,
): Promise<Asked<Method>> {
  const all = () => client.messages.filter((one) => one.method === method && one.id !== undefined);
  if (all().length < count) await client.next(`question ${count}`, () => all().length >= count);
  return all()[count - 1] as Message & Asked<Method>;
}

export function answer(client: TestClient, { id }: { id: number }, result: unknown): void {
  client.send(JSON.stringify({ id, result }));
}

/** Two responses: a call, and the end of the turn. */
export function callThenEnd(name: string, args: object): Step[][] {
  return [response(functionCall(name, args)), response(message('done'))];
}

/** A model's question to the user: answers by `q`. */
export const QUESTIONS = {
  questions: [
    {
      id: 'q',
      header: 'Which',
      question: 'Which one?',
      options: [{ label: 'A', description: 'the first' }],
    },
  ],
};

export const PLAN_MODE = {
  collaborationMode: {
    mode: 'plan' as const,
    settings: { model: 'test-model', reasoning_effort: null, developer_instructions: null },
  },
};

/** The method with which a server of MCP asks, and heddle about its tools. */
export const ELICITATION = 'mcpServer/elicitation/request';

/** How many elicitations a client was shown. */
export function elicitationCount({ client }: { client: TestClient }): number {
  return client.messages.filter(({ method, id }) => method === ELICITATION && id !== undefined)
    .length;
}

/** For how long the answer to an elicitation may hold, as it offers. */
export function persistOffered({ params }: { params: object }): string[] | undefined {
  return (params as { _meta: { persist?: string[] } })._meta.persist;
}
