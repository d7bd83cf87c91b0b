import { expect, test } from 'vitest';
import { startServer } from '../support/test-server.ts';

test('collaborationMode/list names both modes and leaves the model and the effort to the thread', async () => {
  const { client } = await startServer();
  expect(await client.request('collaborationMode/list', undefined)).toEqual({
    data: [
      { name: 'Plan', mode: 'plan', model: null, reasoning_effort: null },
      { name: 'Default', mode: 'default', model: null, reasoning_effort: null },
    ],
  });
});
