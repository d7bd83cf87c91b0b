import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json-value.ts';
import type { ThreadItem, UntimedItem } from '../../src/protocol/generated/types.ts';
import { writeFiles } from '../config/temp-folder.ts';
import { CountingIds, idOf } from '../support/counting-ids.ts';
import { timed } from '../support/expected.ts';
import { startServer } from '../support/test-server.ts';
import { at, completed, event, rolloutId, sessionMeta, text } from './rollout-text.ts';

const TURN = 't1';
const AT = { startedAtMs: at(2), completedAtMs: at(2) };
const AGENT_MESSAGE = {
  memoryCitation: null,
  delivery: null,
  questions: null,
  moderation: null,
} as const;

/**
 * The items that clients see of a turn with these lines. The client checks that each item fits its
 * schema.
 */
async function itemsOfTurn(lines: string[]): Promise<ThreadItem[]> {
  const { client, folder } = await startServer({ ids: new CountingIds() });
  const begin = event(1, 'task_started', { turn_id: TURN });
  writeFiles(folder, { 'x.jsonl': text([sessionMeta(rolloutId(1)), begin, ...lines]) });
  const { thread } = await client.request('thread/resume', {
    threadId: '',
    path: join(folder, 'x.jsonl'),
  });
  return thread.turns.flatMap(({ items }) => items);
}

const REVIEW = {
  overall_explanation: 'Nearly there.',
  findings: [
    {
      title: 'A slip',
      body: 'One line.\nAnother.',
      code_location: { absolute_file_path: '/w/a.ts', line_range: { start: 3, end: 5 } },
    },
    { title: 'Elsewhere', body: 'Somewhere.' },
  ],
};
const REVIEW_TEXT =
  'Nearly there.\n\n- A slip (/w/a.ts:3-5)\n  One line.\n  Another.\n\n- Elsewhere\n  Somewhere.';

const CASES: [written: JsonObject, shown: UntimedItem][] = [
  [
    {
      type: 'UserMessage',
      id: 'u',
      client_id: 'c',
      content: [
        {
          type: 'text',
          text: 'hi $s',
          text_elements: [{ byte_range: { start: 0, end: 2 }, placeholder: 'P' }],
        },
        { type: 'image', image_url: 'data:x', detail: 'high' },
        { type: 'image', file_id: 'file_1' },
        { type: 'local_image', path: '/w/p.png' },
        { type: 'audio', audio_url: 'data:y' },
        { type: 'local_audio', path: '/w/p.mp3' },
        { type: 'skill', name: 's', path: '/w/SKILL.md' },
        { type: 'mention', name: 'm', path: 'app://m' },
        { type: 'later' },
      ],
    },
    {
      type: 'userMessage',
      id: 'u',
      clientId: 'c',
      content: [
        {
          type: 'text',
          text: 'hi $s',
          text_elements: [{ byteRange: { start: 0, end: 2 }, placeholder: 'P' }],
        },
        { type: 'image', url: 'data:x', detail: 'high' },
        { type: 'image', fileId: 'file_1', detail: null },
        { type: 'localImage', path: '/w/p.png', detail: null },
        { type: 'audio', url: 'data:y' },
        { type: 'localAudio', path: '/w/p.mp3' },
        { type: 'skill', name: 's', path: '/w/SKILL.md' },
        { type: 'mention', name: 'm', path: 'app://m' },
      ],
    },
  ],
  [
    {
      type: 'AgentMessage',
      id: 'a',
      content: [{ type: 'Text', text: 'so' }],
      phase: 'commentary',
      memory_citation: {
        entries: [{ path: 'm.md', line_start: 1, line_end: 2, note: 'n' }],
        rollout_ids: ['r'],
      },
    },
    {
      type: 'agentMessage',
      id: 'a',
      text: 'so',
      phase: 'commentary',
      ...AGENT_MESSAGE,
      memoryCitation: {
        entries: [{ path: 'm.md', lineStart: 1, lineEnd: 2, note: 'n' }],
        threadIds: ['r'],
      },
    },
  ],
  [
    { type: 'Reasoning', id: 'r', summary_text: ['s'], raw_content: [] },
    { type: 'reasoning', id: 'r', summary: ['s'], content: [] },
  ],
  [
    { type: 'Plan', id: 'p', text: '- one' },
    { type: 'plan', id: 'p', text: '- one' },
  ],
  [
    {
      type: 'CommandExecution',
      id: 'x',
      command: ['cat', 'it'],
      cwd: '/w',
      parsed_cmd: [
        { type: 'read', cmd: 'cat it', name: 'it', path: 'it' },
        { type: 'search', cmd: 'rg x', query: 'x', path: null },
        { type: 'later', cmd: 'y' },
      ],
      source: 'user_shell',
      status: 'declined',
      aggregated_output: '',
    },
    {
      type: 'commandExecution',
      id: 'x',
      command: 'cat it',
      cwd: '/w',
      processId: null,
      source: 'userShell',
      status: 'declined',
      commandActions: [
        { type: 'read', command: 'cat it', name: 'it', path: '/w/it' },
        { type: 'search', command: 'rg x', query: 'x', path: null },
        { type: 'unknown', command: 'y' },
      ],
      aggregatedOutput: null,
      exitCode: null,
      durationMs: null,
    },
  ],
  [
    {
      type: 'FileChange',
      id: 'f',
      status: 'completed',
      changes: {
        '/w/b': { type: 'delete', content: 'gone\n' },
        '/w/a': { type: 'update', unified_diff: '@@', move_path: '/w/c' },
        '/w/d': { type: 'add', content: 'new\n' },
      },
    },
    {
      type: 'fileChange',
      id: 'f',
      status: 'completed',
      changes: [
        { path: '/w/a', kind: { type: 'update', move_path: '/w/c' }, diff: '@@' },
        { path: '/w/b', kind: { type: 'delete' }, diff: 'gone\n' },
        { path: '/w/d', kind: { type: 'add' }, diff: 'new\n' },
      ],
    },
  ],
  [
    {
      type: 'McpToolCall',
      id: 'm',
      server: 's',
      tool: 't',
      arguments: { a: 1 },
      readOnlyHint: true,
      status: 'completed',
      result: { content: [{ type: 'text', text: 'out' }], structuredContent: { b: 2 } },
      duration: { secs: 2, nanos: 3_999_999 },
    },
    {
      type: 'mcpToolCall',
      id: 'm',
      server: 's',
      tool: 't',
      status: 'completed',
      arguments: { a: 1 },
      readOnlyHint: true,
      result: {
        content: [{ type: 'text', text: 'out' }],
        structuredContent: { b: 2 },
        _meta: null,
      },
      error: null,
      durationMs: 2003,
    },
  ],
  [
    {
      type: 'DynamicToolCall',
      id: 'd',
      tool: 't',
      arguments: [],
      status: 'failed',
      content_items: [
        { type: 'inputText', text: 'x' },
        { type: 'inputImage', imageUrl: 'data:z' },
        {},
      ],
      success: false,
    },
    {
      type: 'dynamicToolCall',
      id: 'd',
      namespace: null,
      tool: 't',
      arguments: [],
      status: 'failed',
      contentItems: [
        { type: 'inputText', text: 'x' },
        { type: 'inputImage', imageUrl: 'data:z' },
      ],
      success: false,
      durationMs: null,
    },
  ],
  [
    {
      type: 'CollabAgentToolCall',
      id: 'g',
      tool: 'spawn_agent',
      status: 'completed',
      sender_thread_id: 's',
      receiver_thread_ids: ['r1', 'r2'],
      prompt: 'go',
      model: 'm',
      reasoning_effort: 'low',
      agents_states: { r1: 'pending_init', r2: { completed: 'done' }, r3: 'later' },
    },
    {
      type: 'collabAgentToolCall',
      id: 'g',
      tool: 'spawnAgent',
      status: 'completed',
      senderThreadId: 's',
      receiverThreadIds: ['r1', 'r2'],
      prompt: 'go',
      model: 'm',
      reasoningEffort: 'low',
      agentsStates: {
        r1: { status: 'pendingInit', message: null },
        r2: { status: 'completed', message: 'done' },
        r3: { status: 'notFound', message: null },
      },
    },
  ],
  [
    {
      type: 'SubAgentActivity',
      id: 'q',
      kind: 'started',
      agent_thread_id: 'r1',
      agent_path: '/lead/a',
    },
    {
      type: 'subAgentActivity',
      id: 'q',
      kind: 'started',
      agentThreadId: 'r1',
      agentPath: '/lead/a',
      model: null,
      reasoningEffort: null,
    },
  ],
  [
    {
      type: 'WebSearch',
      id: 'w',
      query: 'q',
      action: { type: 'open_page', url: 'https://example.org' },
    },
    {
      type: 'webSearch',
      id: 'w',
      query: 'q',
      action: { type: 'openPage', url: 'https://example.org' },
      results: null,
    },
  ],
  [
    { type: 'ImageView', id: 'v', path: 'file:///w/a%20b.png' },
    { type: 'imageView', id: 'v', path: '/w/a b.png' },
  ],
  [
    {
      type: 'ImageGeneration',
      id: 'i',
      status: 'completed',
      revised_prompt: 'a cat',
      result: 'AA==',
      saved_path: '/w/cat.png',
    },
    {
      type: 'imageGeneration',
      id: 'i',
      status: 'completed',
      revisedPrompt: 'a cat',
      result: 'AA==',
      savedPath: '/w/cat.png',
    },
  ],
  [
    { type: 'HookPrompt', id: 'h', fragments: [{ text: 'x', hook_run_id: 'y' }] },
    { type: 'hookPrompt', id: 'h', fragments: [{ text: 'x', hookRunId: 'y' }] },
  ],
  [
    { type: 'Sleep', id: 'z', duration_ms: 5 },
    { type: 'sleep', id: 'z', durationMs: 5 },
  ],
  [
    { type: 'EnteredReviewMode', id: 'e', target: { type: 'custom', instructions: 'look' } },
    { type: 'enteredReviewMode', id: 'e', review: 'look' },
  ],
  [
    { type: 'ExitedReviewMode', id: 'l', review_output: REVIEW },
    { type: 'exitedReviewMode', id: 'l', review: REVIEW_TEXT },
  ],
  [
    { type: 'ContextCompaction', id: 'k' },
    { type: 'contextCompaction', id: 'k' },
  ],
];

test('an item of each type is shown in the form of the protocol', async () => {
  expect(await itemsOfTurn(CASES.map(([written]) => completed(2, TURN, written)))).toEqual(
    CASES.map(([, expected]) => timed(expected, AT)),
  );
});

test('an item without the fields that clients need is not shown', async () => {
  const lacking = [
    'CommandExecution',
    'McpToolCall',
    'DynamicToolCall',
    'CollabAgentToolCall',
    'SubAgentActivity',
    'ImageView',
  ];
  expect(await itemsOfTurn(lacking.map((type) => completed(2, TURN, { type, id: type })))).toEqual(
    [],
  );
});

test('an item with fields of wrong types is shown with its other fields, and fits its schema', async () => {
  const types = CASES.map(([{ type }]) => type ?? '');
  const odd = {
    content: 7,
    fragments: {},
    changes: [],
    parsed_cmd: 'x',
    status: 3,
    arguments: 1,
    agents_states: [],
    findings: 'x',
  };
  const needed = {
    cwd: '/w',
    command: 'c',
    server: 's',
    tool: 'wait',
    sender_thread_id: 's',
    agent_thread_id: 't',
    agent_path: 'p',
    path: '/p',
  };
  const items = await itemsOfTurn(
    types.map((type, index) =>
      completed(2, TURN, { ...odd, ...needed, kind: 'started', type, id: `${index}` }),
    ),
  );
  expect(items.map(({ id }) => id)).toEqual(types.map((_type, index) => `${index}`));
});

test('older events show the same items', async () => {
  const items = await itemsOfTurn([
    event(2, 'patch_apply_end', {
      call_id: 'f',
      success: true,
      changes: { '/w/d': { type: 'add', content: 'new\n' } },
    }),
    event(2, 'mcp_tool_call_end', {
      call_id: 'm',
      invocation: { server: 's', tool: 't', arguments: {} },
      result: { Err: 'it broke' },
      duration: { secs: 0, nanos: 0 },
    }),
    event(2, 'mcp_tool_call_end', {
      call_id: 'n',
      invocation: { server: 's', tool: 't' },
      result: { Ok: { content: [], isError: true } },
    }),
    event(2, 'web_search_end', {
      call_id: 'w',
      query: 'q',
      action: { type: 'search', query: 'q' },
      results: [{ title: 't' }],
    }),
    event(2, 'view_image_tool_call', { call_id: 'v', path: '/w/p.png' }),
    event(2, 'image_generation_end', { call_id: 'i', status: 'completed', result: 'AA==' }),
    event(2, 'dynamic_tool_call_response', {
      call_id: 'd',
      tool: 't',
      arguments: {},
      content_items: [],
      success: true,
    }),
    event(2, 'entered_review_mode', { item_id: 'e', user_facing_hint: 'look' }),
    event(2, 'agent_reasoning_raw_content', { text: 'hm' }),
    event(2, 'exited_review_mode', { item_id: 'l', review_output: null }),
    event(2, 'context_compacted'),
  ]);
  const expected: UntimedItem[] = [
    {
      type: 'fileChange',
      id: 'f',
      status: 'completed',
      changes: [{ path: '/w/d', kind: { type: 'add' }, diff: 'new\n' }],
    },
    {
      type: 'mcpToolCall',
      id: 'm',
      server: 's',
      tool: 't',
      status: 'failed',
      arguments: {},
      readOnlyHint: null,
      result: null,
      error: { message: 'it broke' },
      durationMs: 0,
    },
    {
      type: 'mcpToolCall',
      id: 'n',
      server: 's',
      tool: 't',
      status: 'failed',
      arguments: null,
      readOnlyHint: null,
      result: { content: [], structuredContent: null, _meta: null },
      error: null,
      durationMs: null,
    },
    {
      type: 'webSearch',
      id: 'w',
      query: 'q',
      action: { type: 'search', query: 'q', queries: null },
      results: [{ title: 't' }],
    },
    { type: 'imageView', id: 'v', path: '/w/p.png' },
    {
      type: 'imageGeneration',
      id: 'i',
      status: 'completed',
      revisedPrompt: null,
      result: 'AA==',
      savedPath: null,
    },
    {
      type: 'dynamicToolCall',
      id: 'd',
      namespace: null,
      tool: 't',
      arguments: {},
      status: 'completed',
      contentItems: [],
      success: true,
      durationMs: null,
    },
    { type: 'enteredReviewMode', id: 'e', review: 'look' },
    { type: 'reasoning', id: idOf(1), summary: [], content: ['hm'] },
    { type: 'exitedReviewMode', id: 'l', review: '' },
    { type: 'contextCompaction', id: idOf(2) },
  ];
  expect(items).toEqual(
    expected.map((item) => timed(item, { startedAtMs: null, completedAtMs: null })),
  );
});
