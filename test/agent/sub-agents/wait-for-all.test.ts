import { expect, test } from 'vitest';
import { Gate } from '../../support/gate.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import { agentOf, outputs } from './agents-model.ts';
import { collabs, done, ROOT, spawn, withAgents } from './agents-server.ts';

const waitForAny = response(functionCall('wait_agent', {}, { callId: 'wait' }));

test('wait_agent without targets waits for those that work', async () => {
  const gate = new Gate();
  const server = await withAgents({
    root: [
      response(
        ...[spawn({ message: 'quick: x' }, 'a'), spawn({ message: 'slow: y' }, 'b')].map((steps) =>
          steps.slice(1, -1),
        ),
      ),
      waitForAny,
      done,
    ],
    quick: [response(message('q'))],
    slow: [[gate, ...response(message('s'))]],
  });
  const { turn } = await server.client.request('turn/start', {
    threadId: ROOT,
    input: [{ type: 'text', text: 'root: go' }],
  });
  await server.client.waitFor(
    'item/started',
    ({ item }) => item.type === 'collabAgentToolCall' && item.tool === 'wait',
  );
  gate.open();
  await server.client.turnCompleted(turn.id);
  const last = server.agents.of('root').at(-1);
  const [quick, slow] = last === undefined ? [] : [agentOf(last, 'a'), agentOf(last, 'b')];
  const { receiverThreadIds = [], agentsStates } =
    collabs(server).find(({ tool }) => tool === 'wait') ?? {};
  // The quick one may have ended before the call, and each may have started first.
  expect([[slow], [quick, slow], [slow, quick]]).toContainEqual(receiverThreadIds);
  expect(Object.values(agentsStates ?? {}).map(({ status }) => status)).toContain('completed');
});

test('wait_agent without targets fails if there is no agent', async () => {
  const server = await withAgents({ root: [waitForAny, done] });
  await server.client.turn(ROOT, 'root: go');
  const last = server.agents.of('root')[1];
  expect(last && outputs(last)).toEqual({
    wait: 'There is no agent that you have started and that is open.',
  });
  expect(collabs(server)).toMatchObject([{ tool: 'wait', status: 'failed' }]);
});
