import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/model/model.ts';
import type { MultiAgentMode } from '../../../src/protocol/generated/types.ts';
import { functionCall, message, response, TestModel } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { configWith, done, ROOT, spawn, wait, withAgents } from './agents-server.ts';

const PROACTIVE = expect.stringMatching(
  /^Agents: start agents with spawn_agent without being asked/,
);
const ENDED = expect.stringMatching(/^Start agents only if the user asks/);
const CUSTOM = 'Start an agent for each file.';

/** The texts about agents that the model was told, by its developer messages. */
const modeTexts = ({ input }: ModelRequest) =>
  input
    .flatMap((item) =>
      item.type === 'message' && item.role === 'developer' && typeof item.content !== 'string'
        ? item.content
        : [],
    )
    .flatMap((part) => ('text' in part && /agent/.test(part.text) ? [part.text] : []));

const answers = () => new TestModel(...Array.from({ length: 8 }, () => response(message('ok'))));

test.each<[MultiAgentMode, unknown[]]>([
  ['explicitRequestOnly', []],
  ['proactive', [PROACTIVE]],
  [{ custom: CUSTOM }, [CUSTOM]],
])('multiAgentMode %j of thread/start is told to the model', async (multiAgentMode, expected) => {
  const server = await startServer({ model: answers() });
  await server.client.request('thread/start', { multiAgentMode });
  await server.client.turn(ROOT, 'go');
  expect(modeTexts(server.model.request(1))).toEqual(expected);
  const tool = server.model.request(1).tools.find(({ name }) => name === 'spawn_agent');
  expect(tool).toMatchObject({
    description: expect.stringContaining(
      'only if the user asks for agents or for parallel work, or if your instructions do',
    ),
  });
});

test('multiAgentMode of turn/start holds from that turn on, is announced, and is kept by a resume', async () => {
  const server = await startServer({ model: answers() });
  await server.client.request('thread/start', {});
  await server.client.turn(ROOT, 'one', { multiAgentMode: 'proactive' });
  await server.client.turn(ROOT, 'two');
  await server.client.turn(ROOT, 'three', { multiAgentMode: { custom: CUSTOM } });
  await server.client.turn(ROOT, 'four', { multiAgentMode: 'explicitRequestOnly' });
  expect([1, 2, 3, 4].map((count) => modeTexts(server.model.request(count)))).toEqual([
    [PROACTIVE],
    [PROACTIVE],
    [PROACTIVE, CUSTOM],
    [PROACTIVE, CUSTOM, ENDED],
  ]);
  const updates = server.client
    .notifications('thread/settings/updated')
    .map(({ threadSettings }) => threadSettings.multiAgentMode);
  expect(updates).toEqual(['proactive', { custom: CUSTOM }, 'explicitRequestOnly']);
  await server.client.request('thread/settings/update', {
    threadId: ROOT,
    multiAgentMode: 'proactive',
  });
  const again = await server.restart();
  await again.client.request('thread/resume', { threadId: ROOT });
  const shown = await again.client.waitFor('thread/settings/updated');
  expect(shown.threadSettings.multiAgentMode).toBe('proactive');
});

test.each([
  '[agents]\nenabled = false\n',
  '[agents]\nmax_depth = 0\n',
  '[features]\nmulti_agent = false\n',
])('with %j the model has no tools for agents, and is told nothing about them', async (text) => {
  const server = await startServer({ model: answers(), config: configWith(text) });
  await server.client.request('thread/start', { multiAgentMode: 'proactive' });
  await server.client.turn(ROOT, 'go');
  expect(modeTexts(server.model.request(1))).toEqual([]);
  const names = server.model.request(1).tools.map(({ name }) => name);
  for (const name of ['spawn_agent', 'send_input', 'resume_agent', 'wait_agent', 'close_agent'])
    expect(names).not.toContain(name);
});

test('an agent that cannot start agents is not told to', async () => {
  const server = await withAgents(
    {
      root: [spawn({ message: 'child: x' }), (request) => wait(request), done],
      child: [response(message('ok'))],
    },
    { thread: { multiAgentMode: 'proactive' } },
  );
  await server.client.turn(ROOT, 'root: go');
  const [child] = server.agents.of('child');
  expect(child && modeTexts(child)).toEqual([]);
});

test('agents of agents are told the mode, as deep as agents may be nested', async () => {
  const server = await withAgents(
    {
      root: [spawn({ message: 'child: x' }), (request) => wait(request), done],
      child: [spawn({ message: 'grandchild: y' }), (request) => wait(request), done],
      grandchild: [
        response(functionCall('spawn_agent', { message: 'no' })),
        response(message('ok')),
      ],
    },
    { thread: { multiAgentMode: 'proactive' }, config: configWith('[agents]\nmax_depth = 2\n') },
  );
  await server.client.turn(ROOT, 'root: go');
  const [[child], [grandchild]] = [server.agents.of('child'), server.agents.of('grandchild')];
  expect(child && modeTexts(child)).toEqual([PROACTIVE]);
  expect(grandchild && modeTexts(grandchild)).toEqual([]);
});
