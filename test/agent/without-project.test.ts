import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../src/model/model.ts';
import { idOf } from '../support/counting-ids.ts';
import { message, response, TestModel } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';
import { done, spawn, wait, withAgents } from './sub-agents/agents-server.ts';

const files = {
  'home/AGENTS.md': 'OF-THE-HOME',
  'work/AGENTS.md': 'OF-THE-PROJECT',
  'work/.agents/skills/mend/SKILL.md':
    '---\nname: mend\ndescription: SKILL-OF-THE-PROJECT\n---\nMend it.\n',
};
const MARKS = ['OF-THE-HOME', 'OF-THE-PROJECT', 'SKILL-OF-THE-PROJECT'];
const HOME_ONLY = ['OF-THE-HOME'];

/** The instructions that a request has. */
const found = ({ input }: Pick<ModelRequest, 'input'>) =>
  MARKS.filter((mark) =>
    input.some((item) =>
      JSON.stringify(item)
        .split(/[^A-Z-]/)
        .includes(mark),
    ),
  );
/**
 * The instructions that were told last: what comes before is in the prompt of the request before
 * it.
 */
const foundSince = (model: TestModel, request: number) =>
  found({ input: model.request(request).input.slice(model.request(request - 1).input.length) });

test('environments: [] leaves out the instructions and skills of the project, also after a restart, in forks and after a reload', async () => {
  const model = new TestModel(...Array.from({ length: 6 }, () => response(message('ok'))));
  const server = await startServer({ model, files });
  const homeOnly = [join(server.home, 'AGENTS.md')];
  const answer = await server.client.request('thread/start', { environments: [] });
  expect([answer.instructionSources, answer.thread.environments]).toEqual([homeOnly, []]);
  await server.client.turn(idOf(1), 'one');
  expect(found(model.request(1))).toEqual(HOME_ONLY);

  const { client } = await server.restart();
  const resumed = await client.request('thread/resume', { threadId: idOf(1) });
  expect([resumed.instructionSources, resumed.thread.environments]).toEqual([homeOnly, []]);
  await client.turn(idOf(1), 'two');
  expect(found(model.request(2))).toEqual(HOME_ONLY);

  await client.request('config/batchWrite', { edits: [], reloadUserConfig: true });
  await client.turn(idOf(1), 'three');
  expect(found(model.request(3))).toEqual(HOME_ONLY);

  const { turns } = (await client.request('thread/read', { threadId: idOf(1), includeTurns: true }))
    .thread;
  for (const [request, point] of [{}, { lastTurnId: turns[0]?.id ?? '' }].entries()) {
    const fork = await client.request('thread/fork', { threadId: idOf(1), ...point });
    expect([fork.instructionSources, fork.thread.environments]).toEqual([homeOnly, []]);
    await client.turn(fork.thread.id, 'in a fork');
    expect(found(model.request(4 + request))).toEqual(HOME_ONLY);
  }
});

test('a turn can take the environment away and bring it back; null leaves it; thread/settings/update can take it away', async () => {
  const model = new TestModel(...Array.from({ length: 6 }, () => response(message('ok'))));
  const { client, cwd } = await startServer({ model, files });
  await client.request('thread/start', {});
  const environments = [{ environmentId: 'local', cwd }];
  await client.turn(idOf(1), 'one');
  expect(found(model.request(1))).toEqual(MARKS);
  await client.turn(idOf(1), 'two', { environments: [] });
  expect(foundSince(model, 2)).toEqual(HOME_ONLY);
  await client.turn(idOf(1), 'three', { environments: null });
  expect(foundSince(model, 3)).toEqual([]);
  await client.turn(idOf(1), 'four', { environments });
  expect(foundSince(model, 4)).toEqual(MARKS);
  await client.request('thread/settings/update', { threadId: idOf(1), environments: [] });
  expect(
    client
      .notifications('thread/settings/updated')
      .map(({ threadSettings }) => threadSettings.environments),
  ).toEqual([[], null, []]);
  await client.turn(idOf(1), 'five');
  expect(foundSince(model, 5)).toEqual(HOME_ONLY);
});

test('an agent of a thread without an environment has none', async () => {
  const server = await withAgents(
    { root: [spawn({ message: 'child: go' }), (request) => wait(request), done], child: [done] },
    { files, thread: { environments: [] } },
  );
  await server.client.turn(idOf(1), 'root');
  expect([...server.agents.of('root'), ...server.agents.of('child')].map(found)).toEqual(
    Array.from({ length: 4 }, () => HOME_ONLY),
  );
});
