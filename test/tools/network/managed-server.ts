import { once } from 'node:events';
import { connect } from 'node:net';
import type { Dial } from '../../../src/network/checked-dial.ts';
import { targetUrl } from '../../../src/policy/network/network-target.ts';
import type {
  CommandExecutionApprovalDecision,
  ServerRequests,
} from '../../../src/protocol/generated/types.ts';
import { startWebServer } from '../../network/proxied.ts';
import { answer, question } from '../../support/asking.ts';
import type { ScriptedResponse } from '../../support/test-model.ts';
import type { TestServer, TestServerOptions } from '../../support/test-server.ts';
import { commandServer, FREE_CONFIG } from '../command-server.ts';

export const ASK = 'item/commandExecution/requestApproval';
export type Question = ServerRequests[typeof ASK]['params'];

/**
 * A configuration in which commands reach the network through a proxy, and a person is asked about
 * unknown hosts.
 */
export const MANAGED_CONFIG = FREE_CONFIG.replace('"danger-full-access"', '"workspace-write"')
  .replace('"never"', '"on-request"')
  .concat(
    '[sandbox_workspace_write]\nnetwork_access = true\n[features.network_proxy]\nenabled = true\n',
  );

export interface Managed extends TestServer {
  /** The targets that a proxy has connected to. */
  reached: string[];
}

/**
 * A server with a thread whose commands are in a managed network: every host that they may reach
 * leads to a web server of the test.
 */
export async function managed(
  responses: ScriptedResponse[],
  options: TestServerOptions = {},
): Promise<Managed> {
  const { dial, reached } = await dialToWebServer();
  const server = await commandServer(responses, { config: MANAGED_CONFIG, dial, ...options });
  return { ...server, reached, restart: (others) => server.restart({ dial, ...others }) };
}

export async function dialToWebServer(): Promise<{ dial: Dial; reached: string[] }> {
  const { port } = await startWebServer();
  const reached: string[] = [];
  const dial: Dial = async (target) => {
    reached.push(targetUrl(target));
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    return socket;
  };
  return { dial, reached };
}

/** Answers the `count`th question of the server, and returns it. */
export async function decide(
  { client }: TestServer,
  decision: CommandExecutionApprovalDecision,
  count = 1,
): Promise<Question> {
  const asked = await question(client, ASK, count);
  answer(client, asked, { decision });
  return asked.params;
}

/** The questions that the client was asked so far. */
export function questions({ client }: TestServer): Question[] {
  return client.messages
    .filter(({ method, id }) => method === ASK && id !== undefined)
    .map(({ params }) => params as Question);
}

/** The decision that allows or denies a host from now on. */
export function amendment(
  host: string,
  action: 'allow' | 'deny',
): CommandExecutionApprovalDecision {
  return { applyNetworkPolicyAmendment: { network_policy_amendment: { host, action } } };
}
