import { expect, test } from 'vitest';
import { startServer } from '../support/test-server.ts';

test('model/list gives the configured model as the default, with efforts that clients know', async () => {
  const { client } = await startServer();
  const { data, nextCursor } = await client.request('model/list', {});
  expect(nextCursor).toBe(null);
  expect(
    data.map(({ id, model, isDefault, hidden, defaultReasoningEffort }) => ({ id, model, isDefault, hidden, defaultReasoningEffort })),
  ).toEqual([{ id: 'test-model', model: 'test-model', isDefault: true, hidden: false, defaultReasoningEffort: 'medium' }]);
  const known = ['minimal', 'low', 'medium', 'high', 'xhigh'];
  expect(
    data
      .flatMap((model) => model.supportedReasoningEfforts.map(({ reasoningEffort }) => reasoningEffort))
      .filter((effort) => !known.includes(effort)),
  ).toEqual([]);
});
