import { expect, test } from 'vitest';
import type { UntimedItem } from '../../src/protocol/generated/types.ts';
import { settleItem } from '../../src/store/settle-item.ts';
import { agentMessage, command } from './samples.ts';

const work: UntimedItem[] = [
  command('a', 'inProgress'),
  { type: 'fileChange', id: 'b', changes: [], status: 'inProgress' },
  { type: 'mcpToolCall', id: 'c', server: 's', tool: 't', status: 'inProgress', arguments: {} },
  { type: 'dynamicToolCall', id: 'd', tool: 't', status: 'inProgress', arguments: {} },
  {
    type: 'collabAgentToolCall',
    id: 'e',
    tool: 'spawnAgent',
    status: 'inProgress',
    senderThreadId: 's',
    receiverThreadIds: [],
    agentsStates: {},
  },
];

test.each(work)('an unfinished item has failed: $type', (item) => {
  expect(settleItem(item)).toEqual({ ...item, status: 'failed' });
});

test('a completed item, a text and an item of an unknown type stay as they are', () => {
  const unknown = JSON.parse(
    '{"type":"fromTheFuture","id":"x","status":"inProgress"}',
  ) as UntimedItem;
  for (const item of [command('a', 'completed'), agentMessage('b', 'half a sent'), unknown])
    expect(settleItem(item)).toEqual(item);
});
