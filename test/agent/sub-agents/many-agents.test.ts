import { expect, test, vi } from 'vitest';
import { Instructions } from '../../../src/agent/prompt/instructions.ts';
import { functionCall, response } from '../../support/test-model.ts';
import { outputs } from './agents-model.ts';
import { configWith, done, ROOT, withAgents } from './agents-server.ts';

const COUNT = 32;

test('between the starts of many agents, the server does other work', async () => {
  const spawns = Array.from({ length: COUNT }, (_, n) =>
    functionCall('spawn_agent', { message: `child: ${n}` }, { callId: `c${n}` }),
  );
  const server = await withAgents(
    { root: [response(...spawns), done], child: Array.from({ length: COUNT }, () => done) },
    { config: configWith('[agents]\nmax_threads = 64\n') },
  );
  // Each start of an agent reads the instructions of its folder once, after its configuration.
  const loads = new Map<number, number>();
  let round = 0;
  const rounds = setImmediate(function next() {
    round++;
    immediate = setImmediate(next);
  });
  let immediate = rounds;
  const { load } = Instructions;
  const spy = vi.spyOn(Instructions, 'load').mockImplementation((...args) => {
    loads.set(round, (loads.get(round) ?? 0) + 1);
    return load.apply(Instructions, args);
  });
  try {
    await server.client.turn(ROOT, 'root: go');
  } finally {
    clearImmediate(immediate);
    spy.mockRestore();
  }
  const started = Object.values(
    outputs(server.agents.of('root')[1] ?? expect.fail('the root was not asked again')),
  );
  expect(started).toEqual(
    Array.from({ length: COUNT }, () => expect.objectContaining({ agent_id: expect.any(String) })),
  );
  expect([...loads.values()].reduce((sum, each) => sum + each, 0)).toBe(COUNT);
  expect(Math.max(...loads.values())).toBeLessThanOrEqual(2);
});
