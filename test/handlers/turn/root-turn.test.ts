import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { text } from '../../support/test-client.ts';
import { functionCall, message, response, type Step, TestModel } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

test('rootTurnId is the turn itself, or the one that the client names; it stays after a restart and in forks', async () => {
  const server = await startServer({
    model: new TestModel(response(message('a')), response(message('b'))),
  });
  const { client } = server;
  await client.request('thread/start', {});
  const first = await client.turn(idOf(1), 'one');
  expect(first.rootTurnId).toBe(first.id);
  const started = await client.request('turn/start', {
    threadId: idOf(1),
    input: text('two'),
    rootTurnId: 'root-1',
  });
  expect(started.turn.rootTurnId).toBe('root-1');
  expect((await client.turnCompleted(started.turn.id)).rootTurnId).toBe('root-1');
  expect(client.notifications('turn/started').map(({ turn }) => turn.rootTurnId)).toEqual([
    first.id,
    'root-1',
  ]);
  const again = await server.restart();
  const { thread } = await again.client.request('thread/resume', { threadId: idOf(1) });
  expect(thread.turns.map(({ rootTurnId }) => rootTurnId)).toEqual([first.id, 'root-1']);
  const fork = (await again.client.request('thread/fork', { threadId: idOf(1) })).thread;
  expect(fork.turns.map(({ rootTurnId }) => rootTurnId)).toEqual([first.id, 'root-1']);
});

test('a rootTurnId that is too long is refused', async () => {
  const { client } = await startServer();
  await client.request('thread/start', {});
  const params = { threadId: idOf(1), input: text('hi'), rootTurnId: 'x'.repeat(257) };
  expect(await client.refusal('turn/start', params)).toMatchObject({
    message: 'params.rootTurnId must have at most 256 characters',
  });
});

test('the turns of an agent have the turn of the uppermost thread as their root', async () => {
  const spawn: Step[] = functionCall('spawn_agent', { message: 'do it' });
  const isAgents = (input: unknown) => JSON.stringify(input).includes('do it');
  const model = new TestModel(
    response(spawn),
    ...[1, 2, 3].map(
      () =>
        ({ input }: { input: unknown }) =>
          response(message(isAgents(input) ? 'mine' : 'done')),
    ),
  );
  const { client } = await startServer({ model });
  await client.request('thread/start', {});
  const turn = await client.turn(idOf(1), 'go');
  const all = () =>
    client.notifications('turn/started').filter(({ threadId }) => threadId !== idOf(1));
  if (all().length === 0) await client.next('the turn of the agent', () => all().length > 0);
  expect(all().map((each) => each.turn.rootTurnId)).toEqual([turn.id]);
});

test('every notification says when it was made', async () => {
  const { client, clock } = await startServer({ model: new TestModel(response(message('a'))) });
  await client.request('thread/start', {});
  clock.advance(1234);
  await client.turn(idOf(1), 'one');
  const line = client.lines.find((each) => each.includes('"turn/started"')) ?? '';
  expect(JSON.parse(line)).toMatchObject({ method: 'turn/started', emittedAtMs: clock.now() });
  expect(
    client.lines.filter((each) => /^\{"id"/.test(each) && each.includes('emittedAtMs')),
  ).toEqual([]);
});

test('a thread says whether it takes input: null if it is not loaded', async () => {
  const server = await startServer({ model: new TestModel(response(message('a'))) });
  const { client, cwd } = server;
  const { thread } = await client.request('thread/start', {});
  const environments = [{ environmentId: 'local', cwd, runtimeWorkspaceRoots: [cwd] }];
  expect(thread).toMatchObject({
    canAcceptDirectInput: true,
    attachedToThreadId: null,
    environments,
    extra: null,
  });
  await client.turn(idOf(1), 'one');
  const again = await server.restart();
  expect((await again.client.request('thread/list', {})).data).toMatchObject([
    { canAcceptDirectInput: null },
  ]);
});
