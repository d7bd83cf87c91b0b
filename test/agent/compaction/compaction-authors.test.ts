import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { message, response, TestModel } from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';

const threadId = idOf(1);

async function compacted(server: TestServer): Promise<void> {
  await server.client.request('thread/compact/start', { threadId });
  await server.client.waitFor('thread/compacted');
  let ends = 0;
  await server.client.first('the end', ({ method }) => method === 'turn/completed' && ++ends === 2);
}

function lastInput({ model }: TestServer): string {
  return JSON.stringify(model.request(model.requests.length).input);
}

test.each([
  '<context> is a React component. Fix it.',
  '<review>my draft</review>',
  '# AGENTS.md instructions\nshould be shorter',
])('a message of the user is kept, whatever it begins with: %j', async (said) => {
  const server = await startServer({
    model: new TestModel(response(message('first')), response(message('SUMMARY'))),
  });
  await server.client.request('thread/start', {});
  await server.client.turn(threadId, said);
  await compacted(server);
  server.model.push(response(message('second')));
  await server.client.turn(threadId, 'go on');
  expect(lastInput(server)).toContain(JSON.stringify(said).slice(1, -1));
});

test('a thread of commands of the user has something to summarize', async () => {
  const server = await startServer({ model: new TestModel(response(message('SUMMARY'))) });
  await server.client.request('thread/start', {});
  await server.client.request('thread/shellCommand', { threadId, command: 'echo marker' });
  await server.client.waitFor('turn/completed');
  await compacted(server);
  expect(server.model.requests).toHaveLength(1);
  server.model.push(response(message('second')));
  await server.client.turn(threadId, 'go on');
  expect(lastInput(server)).toContain('SUMMARY');
});
