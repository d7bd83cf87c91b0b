import { expect, test } from 'vitest';
import { answer, QUESTIONS, question } from '../../support/asking.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import type { TestServerOptions } from '../../support/test-server.ts';
import { FREE_CONFIG } from '../../tools/command-server.ts';
import { type AgentsServer, done, ROOT, spawn, wait, withAgents } from './agents-server.ts';

const ASKING = `${FREE_CONFIG.replace('"never"', '"untrusted"')}\n[features]\ndefault_mode_request_user_input = true\nrequest_permissions_tool = true\n`;
const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch\n';
const patches = response([
  {
    type: 'itemCompleted',
    item: {
      type: 'custom_tool_call',
      id: 'ctc_1',
      call_id: 'call_1',
      name: 'apply_patch',
      input: PATCH,
    },
  },
]);

const touches = response(functionCall('exec_command', { cmd: 'touch x', login: false }));

/** A server whose agent asks with this response. */
function asking(
  call: ReturnType<typeof response>,
  options: Partial<TestServerOptions> = {},
): Promise<AgentsServer> {
  return withAgents(
    {
      root: [
        spawn({ message: 'child: x', agent_type: 'worker' }),
        (request) => wait(request),
        done,
      ],
      child: [call, response(message('ok'))],
    },
    {
      config: ASKING,
      thread: { sandbox: 'workspace-write', approvalPolicy: 'untrusted' },
      ...options,
    },
  );
}

const agentOf = ({ client }: AgentsServer) => {
  const thread = client.notifications('thread/started').at(-1)?.thread;
  return { threadId: thread?.id, nickname: 'Acorn', role: 'worker', parentThreadId: ROOT };
};

test.each([
  ['item/commandExecution/requestApproval', touches, { decision: 'decline' }],
  ['item/fileChange/requestApproval', patches, { decision: 'decline' }],
  [
    'item/permissions/requestApproval',
    response(
      functionCall('request_permissions', {
        reason: 'why',
        permissions: { network: { enabled: true } },
      }),
    ),
    { permissions: {} },
  ],
  [
    'item/tool/requestUserInput',
    response(functionCall('request_user_input', QUESTIONS)),
    { answers: { q: { answers: ['A'] } } },
  ],
] as const)(
  '%s of an agent names the agent, and the clients of its parent are asked',
  async (method, call, result) => {
    const server = await asking(call);
    const { turn } = await server.client.request('turn/start', {
      threadId: ROOT,
      input: [{ type: 'text', text: 'root: go' }],
    });
    const asked = await question(server.client, method);
    const agent = agentOf(server);
    expect(asked.params).toMatchObject({ threadId: agent.threadId, agent });
    // A client that unsubscribes from the agent is still asked, since it follows the parent.
    const other = await server.connect();
    await other.request('thread/resume', { threadId: ROOT });
    expect((await question(other, method)).params).toEqual(asked.params);
    answer(server.client, asked, result);
    await server.client.turnCompleted(turn.id);
  },
);

test('a question of a thread that is no agent names none', async () => {
  const server = await withAgents(
    { root: [touches, done] },
    { config: ASKING, thread: { approvalPolicy: 'untrusted' } },
  );
  const { turn } = await server.client.request('turn/start', {
    threadId: ROOT,
    input: [{ type: 'text', text: 'root: go' }],
  });
  const asked = await question(server.client, 'item/commandExecution/requestApproval');
  expect(asked.params).not.toHaveProperty('agent');
  answer(server.client, asked, { decision: 'decline' });
  await server.client.turnCompleted(turn.id);
});
