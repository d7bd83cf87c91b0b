import type { ThreadStartParams } from '../../../src/protocol/generated/types.ts';
import { idOf } from '../../support/counting-ids.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from '../../support/test-server.ts';
import { type AgentResponse, AgentsModel, agentOf } from './agents-model.ts';

/** The thread that starts the agents. */
export const ROOT = idOf(1);

export const spawn = (args: object, callId = 'spawn') =>
  response(functionCall('spawn_agent', args, { callId }));
export const wait = (request: Parameters<typeof agentOf>[0], args: object = {}) =>
  response(
    functionCall(
      'wait_agent',
      { targets: [agentOf(request, 'spawn')], ...args },
      { callId: 'wait' },
    ),
  );
export const done = response(message('done'));

export type AgentsServer = TestServer & { agents: AgentsModel };

/** The config.toml of the tests, with this text after it. */
export const configWith = (text: string) =>
  `model = "test-model"\nmodel_provider = "test"\n[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n${text}`;

/** A server with a thread whose model follows the scripts. */
export async function withAgents(
  scripts: Record<string, AgentResponse[]>,
  options: Partial<TestServerOptions> & { thread?: ThreadStartParams } = {},
): Promise<AgentsServer> {
  const agents = new AgentsModel(scripts);
  const { thread = {}, ...others } = options;
  const server = await startServer({ otherModel: agents, ...others });
  await server.client.request('thread/start', {
    sandbox: 'danger-full-access',
    approvalPolicy: 'never',
    ...thread,
  });
  return { ...server, agents };
}

/** The ids of the agents in the order in which they were announced. */
export function agentIds({ client }: Pick<TestServer, 'client'>): string[] {
  return client
    .notifications('thread/started')
    .flatMap(({ thread }) => (thread.parentThreadId === null ? [] : [thread.id]));
}

/** The completed items of calls that concern agents. */
export function collabs({ client }: TestServer) {
  return client
    .notifications('item/completed')
    .flatMap(({ item }) => (item.type === 'collabAgentToolCall' ? [item] : []));
}

/** Resolves when so many turns of the server have completed. */
export function turnsCompleted({ client }: Pick<TestServer, 'client'>, count: number) {
  return client.count(
    Number.POSITIVE_INFINITY,
    () => client.notifications('turn/completed').length === count,
  );
}

/** For a request that the model must have been asked. */
export function noRequest(): never {
  throw new Error('there is no such request');
}
