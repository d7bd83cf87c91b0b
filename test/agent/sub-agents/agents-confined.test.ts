import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/model/model.ts';
import type { SandboxPolicy } from '../../../src/protocol/generated/types.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import { functionCall, response } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { assesses, DENY, GUARDED_CONFIG, runsAs } from '../guardian/guardian-server.ts';
import { AgentsModel, agentOf, outputs } from './agents-model.ts';
import {
  agentIds,
  configWith,
  done,
  noRequest,
  ROOT,
  spawn,
  wait,
  withAgents,
} from './agents-server.ts';

const sends = (request: ModelRequest, more = 'again') =>
  response(
    functionCall(
      'send_input',
      { target: agentOf(request, 'spawn'), message: more },
      { callId: 'send' },
    ),
  );
const runsCommands = (requests: readonly ModelRequest[]) =>
  requests.map(({ tools }) => tools.some(({ name }) => name === 'exec_command'));
const LIMITED = '[agents.limited.features]\nshell_tool = false\n';
const READ_ONLY: SandboxPolicy = { type: 'readOnly', networkAccess: false };

test('send_input confines the running turn of the agent, too', async () => {
  const hold = new Gate();
  const touch = response(
    functionCall('exec_command', { cmd: 'touch made-by-agent', login: false }, { callId: 'touch' }),
  );
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), done, (request) => sends(request), done],
    child: [[hold, ...done], touch, done],
  });
  const { client } = server;
  await client.turn(ROOT, 'root: go');
  const [child = ''] = agentIds(server);
  await client.turn(ROOT, 'two', { sandboxPolicy: READ_ONLY });
  hold.open();
  await client.waitFor('turn/completed', ({ threadId }) => threadId === child);
  expect(JSON.stringify(outputs(server.agents.of('child').at(-1) ?? noRequest()).touch)).toMatch(
    /Read-only file system|sandbox|bwrap/i,
  );
  expect((await server.store.getThread(child))?.settings.sandboxPolicy).toMatchObject({
    type: 'readOnly',
  });
});

test('a client that resumes a loaded agent with another setting leaves it the configuration of its role', async () => {
  const server = await withAgents(
    {
      root: [spawn({ message: 'child: x', agent_type: 'limited' }), (r) => wait(r), done],
      child: [done, done],
    },
    { config: configWith(LIMITED) },
  );
  await server.client.turn(ROOT, 'root: go');
  const [child = ''] = agentIds(server);
  await server.client.request('thread/resume', { threadId: child, personality: 'friendly' });
  await server.client.turn(child, 'two');
  expect(runsCommands(server.agents.of('child'))).toEqual([false, false]);
});

test('a role that a request defines is still that of the agent when it is loaded again', async () => {
  const config = { 'agents.limited.features': { shell_tool: false } };
  const first = await withAgents(
    {
      root: [spawn({ message: 'child: x', agent_type: 'limited' }), (r) => wait(r), done],
      child: [done],
    },
    { thread: { config } },
  );
  await first.client.turn(ROOT, 'root: go');
  const [child = ''] = agentIds(first);
  const agents = new AgentsModel({ root: [], child: [done] });
  const server = await first.restart({ otherModel: agents });
  await server.client.request('thread/resume', { threadId: ROOT, config });
  const send = functionCall(
    'send_input',
    { target: child, message: 'child: more' },
    { callId: 'send' },
  );
  agents.push(
    'root',
    response(send),
    response(functionCall('wait_agent', { targets: [child] }, { callId: 'wait' })),
    done,
  );
  await server.client.turn(ROOT, 'root: again');
  expect(runsCommands(agents.of('child'))).toEqual([false]);
});

class Denying extends AgentsModel {
  reviews = 0;

  override async *stream(request: ModelRequest, signal: AbortSignal) {
    if (request.clientMetadata?.['x-openai-subagent'] !== 'guardian')
      yield* super.stream(request, signal);
    else {
      this.reviews++;
      yield* assesses(DENY);
    }
  }
}

test('three denials of an agent end the turn of its parent, which could try again with another agent', async () => {
  const agents = new Denying({
    root: [spawn({ message: 'child: x' }), (r) => wait(r), (r) => sends(r), (r) => wait(r)],
    child: Array.from({ length: 9 }, (_, n) => response(runsAs(`call_${n}`, `touch a${n}`))),
  });
  const { client } = await startServer({ otherModel: agents, config: GUARDED_CONFIG });
  await client.request('thread/start', {});
  const { turn } = await client.request('turn/start', { threadId: ROOT, input: text('root: go') });
  expect((await client.turnCompleted(turn.id)).status).toBe('interrupted');
  expect(agents.reviews).toBe(3);
});
