import { expect, test } from 'vitest';
import type { ResponseItem } from '../../../src/protocol/generated/types.ts';
import { requiredValues } from '../../protocol/required-enums.ts';
import { idOf } from '../../support/counting-ids.ts';
import { dataUrl, png } from '../../support/pictures.ts';
import { asked, conversation, message, response, said } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

const PICTURE = dataUrl('image/png', png(4, 2));
const image = (detail: 'auto' | 'low' | 'high' | 'original') => ({
  type: 'input_image' as const,
  image_url: PICTURE,
  detail,
});
const DETAILS = [image('auto'), image('low'), image('high'), image('original')];
const shellCall = (
  call_id: string,
  status: 'completed' | 'in_progress' | 'incomplete',
): ResponseItem[] => [
  { type: 'local_shell_call', call_id, status, action: { type: 'exec', command: ['ls'] } },
  { type: 'function_call_output', call_id, output: 'a' },
];
const search = (
  action: Extract<ResponseItem, { type: 'web_search_call' }>['action'],
): ResponseItem => ({
  type: 'web_search_call',
  status: 'completed',
  ...(action ? { action } : {}),
});

/** Items with every value that a history may have, as the model reads them. */
const READ: ResponseItem[] = [
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'one' }, ...DETAILS] },
  {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'so far' }],
    phase: 'commentary',
  },
  { type: 'function_call', call_id: 'c1', name: 'view', arguments: '{}' },
  {
    type: 'function_call_output',
    call_id: 'c1',
    output: [{ type: 'input_text', text: 'seen' }, ...DETAILS],
  },
  { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: 'x' },
  { type: 'custom_tool_call_output', call_id: 'c2', output: 'done' },
  ...shellCall('c3', 'completed'),
  ...shellCall('c4', 'in_progress'),
  ...shellCall('c5', 'incomplete'),
  search({ type: 'search', query: 'bread' }),
  search({ type: 'open_page', url: 'https://a/' }),
  search({ type: 'find_in_page', url: 'https://a/', pattern: 'x' }),
  search({ type: 'other' }),
  { type: 'tool_search_call', call_id: 'c6', execution: 'client', arguments: {} },
  {
    type: 'tool_search_output',
    call_id: 'c6',
    execution: 'client',
    status: 'completed',
    tools: [],
  },
  { type: 'image_generation_call', status: 'completed', result: 'AA==' },
  { type: 'compaction', encrypted_content: 'x' },
  {
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'because' }],
    content: [
      { type: 'reasoning_text', text: 'raw' },
      { type: 'text', text: 'plain' },
    ],
  },
  { ...said('first'), phase: 'final_answer' },
];
/** Items that no model reads. */
const LEFT_OUT: ResponseItem[] = [
  {
    type: 'ghost_snapshot',
    ghost_commit: { id: 'a', preexisting_untracked_files: [], preexisting_untracked_dirs: [] },
  },
  { type: 'other' },
];

const TYPES = [
  'ContentItem',
  'FunctionCallOutputContentItem',
  'ImageDetail',
  'LocalShellAction',
  'LocalShellStatus',
  'MessagePhase',
  'ReasoningItemContent',
  'ReasoningItemReasoningSummary',
  'ResponseItem',
  'ResponsesApiWebSearchAction',
];

test('the items below have every value of the required schema of a history', () => {
  const json = JSON.stringify([READ, LEFT_OUT]);
  for (const type of TYPES)
    for (const value of requiredValues('ThreadResumeParams', type))
      expect([type, json.includes(`"${value}"`) || value]).toEqual([type, true]);
});

test('a history with every value is accepted, and the model reads it as it was given', async () => {
  const server = await startServer();
  const { thread } = await server.client.request('thread/resume', {
    threadId: idOf(999),
    history: [...READ, ...LEFT_OUT],
  });
  server.model.push(response(message('ok')));
  await server.client.turn(thread.id, 'go on');
  expect(conversation(server.model.request(1))).toEqual([...READ, asked('go on')]);
});
