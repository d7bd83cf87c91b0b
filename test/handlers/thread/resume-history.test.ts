import { expect, test } from 'vitest';
import type { ResponseItem } from '../../../src/protocol/generated/types.ts';
import { idOf } from '../../support/counting-ids.ts';
import {
  ANY_ID,
  agentItem,
  brief,
  settingsOf,
  threadOf,
  timed,
  turnOf,
  userItem,
} from '../../support/expected.ts';
import { dataUrl, png } from '../../support/pictures.ts';
import { asked, calls, conversation, message, response, said } from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

const UNKNOWN = idOf(999);
/** Nobody knows when the items of a history were written. */
const TIMELESS = { startedAtMs: null, completedAtMs: null };

async function resumedWith(server: TestServer, history: ResponseItem[]) {
  const { thread } = await server.client.request('thread/resume', { threadId: UNKNOWN, history });
  return thread;
}

/**
 * The model's input from a history in the next turn, without the context and the message of the
 * turn.
 */
async function readByModel(history: ResponseItem[]): Promise<ResponseItem[]> {
  const server = await startServer();
  const { id } = await resumedWith(server, history);
  server.model.push(response(message('ok')));
  await server.client.turn(id, 'go on');
  const items = conversation(server.model.request(1));
  expect(items.at(-1)).toEqual(asked('go on'));
  return items.slice(0, -1);
}

test('a history begins a new thread with turns of its own; no thread/started', async () => {
  const server = await startServer();
  const history = [
    asked('one'),
    { ...said('first'), id: 'm1' },
    asked('two'),
    { ...said('second'), id: 'm2' },
  ];
  const answer = await server.client.request('thread/resume', { threadId: UNKNOWN, history });
  const thread = threadOf(server, {
    id: answer.thread.id,
    preview: 'one',
    turns: [
      turnOf({
        id: ANY_ID,
        items: [userItem('one', TIMELESS), agentItem('first', TIMELESS)],
      }),
      turnOf({
        id: ANY_ID,
        items: [userItem('two', TIMELESS), agentItem('second', TIMELESS)],
      }),
    ],
  });
  expect(answer).toMatchObject({ thread, ...settingsOf(server), initialTurnsPage: null });
  expect(answer.thread.id).not.toBe(UNKNOWN);
  const ids = answer.thread.turns.flatMap((turn) => [
    turn.id,
    ...turn.items.map((item) => item.id),
  ]);
  expect(new Set(ids).size).toBe(6);
  await server.client.waitFor('thread/goal/cleared');
  expect(server.client.notifications('thread/started')).toEqual([]);
});

test('the history reaches the model, and so it does after a restart', async () => {
  const server = await startServer();
  const { id } = await resumedWith(server, [asked('one'), said('first')]);
  server.model.push(response(message('second')));
  await server.client.turn(id, 'two');
  expect(conversation(server.model.request(1))).toEqual([
    asked('one'),
    said('first'),
    asked('two'),
  ]);
  const { client, model } = await server.restart();
  const { thread } = await client.request('thread/resume', { threadId: id });
  expect(thread.turns.map(({ items }) => brief(items))).toEqual([
    ['user: one', 'agent: first'],
    ['user: two', 'agent: second'],
  ]);
  model.push(response(message('third')));
  await client.turn(id, 'three');
  expect(conversation(model.request(2))).toEqual([
    asked('one'),
    said('first'),
    asked('two'),
    said('second'),
    asked('three'),
  ]);
});

test('history wins over path, and path over the id', async () => {
  const server = await startServer();
  const { thread: stored } = await threadWith(server, [['stored', 'first']]);
  const again = await server.restart();
  const answer = await again.client.request('thread/resume', {
    threadId: stored.id,
    path: stored.path,
    history: [asked('given')],
  });
  expect(answer.thread.id).not.toBe(stored.id);
  expect(answer.thread.turns.map(({ items }) => brief(items))).toEqual([['user: given']]);
});

test('a thread that begins with a history is listed with its first message as the preview', async () => {
  const server = await startServer();
  const { id } = await resumedWith(server, [
    asked('<environment_context>x</environment_context>'),
    asked('the question'),
    said('yes'),
  ]);
  const { data } = await server.client.request('thread/list', {});
  expect(data.map((thread) => [thread.id, thread.preview])).toEqual([[id, 'the question']]);
});

test('messages that harnesses send in the user role make no turn', async () => {
  const server = await startServer();
  const { turns } = await resumedWith(server, [
    asked('<environment_context>x</environment_context>'),
    asked('# AGENTS.md instructions for /somewhere'),
    asked('one'),
    said('first'),
    asked('<turn_aborted>x</turn_aborted>'),
    asked('two'),
  ]);
  expect(turns.map(({ items }) => brief(items)).filter((items) => items.length > 0)).toEqual([
    ['user: one', 'agent: first'],
    ['user: two'],
  ]);
});

test('the output of a call goes to the model, its success flag does not', async () => {
  const content = [{ type: 'input_text' as const, text: 'seen' }];
  const output = (
    callId: string,
    value: Extract<ResponseItem, { type: 'function_call_output' }>['output'],
  ): ResponseItem => ({
    type: 'function_call_output',
    call_id: callId,
    output: value,
  });
  const history: ResponseItem[] = [asked('one')];
  const forms = {
    a: 'text',
    b: content,
    c: { body: 'failed', success: false },
    d: { body: content, success: true },
    e: { body: 'plain' },
  };
  for (const [callId, form] of Object.entries(forms))
    history.push(calls('exec', {}, { callId }), output(callId, form));
  expect(await readByModel(history)).toEqual([
    asked('one'),
    ...Object.entries({ a: 'text', b: content, c: 'failed', d: content, e: 'plain' }).flatMap(
      ([callId, form]) => [calls('exec', {}, { callId }), output(callId, form)],
    ),
  ]);
});

test('every form of a ResponseItem is accepted; items that no model reads are left out of the prompt', async () => {
  const call: ResponseItem = {
    type: 'custom_tool_call',
    call_id: 'c1',
    name: 'apply_patch',
    input: '*** Begin Patch',
  };
  const callOutput: ResponseItem = {
    type: 'custom_tool_call_output',
    call_id: 'c1',
    output: 'done',
  };
  const shellCall: ResponseItem = {
    type: 'local_shell_call',
    call_id: 'c2',
    status: 'completed',
    action: {
      type: 'exec',
      command: ['ls'],
      working_directory: '/',
      env: { A: 'b' },
      timeout_ms: 5,
      user: null,
    },
  };
  const shellOutput: ResponseItem = { type: 'function_call_output', call_id: 'c2', output: 'a' };
  const picture: ResponseItem = {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_image', image_url: dataUrl('image/png', png(4, 2)), detail: 'high' }],
  };
  const thought: ResponseItem = {
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'because' }],
    content: [{ type: 'reasoning_text', text: 'raw' }],
    encrypted_content: 'x',
  };
  const search: ResponseItem = {
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'open_page', url: 'https://example.com/' },
  };
  const drawing: ResponseItem = {
    type: 'image_generation_call',
    status: 'completed',
    revised_prompt: 'a cat',
    result: 'AA==',
  };
  const compaction: ResponseItem = { type: 'compaction', encrypted_content: 'x' };
  const aside: ResponseItem[] = [
    {
      type: 'ghost_snapshot',
      ghost_commit: {
        id: 'a',
        parent: null,
        preexisting_untracked_files: [],
        preexisting_untracked_dirs: [],
      },
    },
    { type: 'compaction_trigger' },
    { type: 'configuration_update', reasoning: { effort: 'low' } },
    { type: 'other' },
  ];
  const others: ResponseItem[] = [
    picture,
    call,
    callOutput,
    shellCall,
    shellOutput,
    search,
    drawing,
    compaction,
    thought,
    said('first'),
  ];
  expect(await readByModel([asked('one'), ...aside, ...others])).toEqual([asked('one'), ...others]);
});

test('clients see the right item for every form', async () => {
  const server = await startServer();
  const { turns } = await resumedWith(server, [
    { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'data:,x' }] },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'because' }] },
    { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'bread' } },
    { type: 'image_generation_call', status: 'completed', revised_prompt: 'a cat', result: 'AA==' },
    {
      type: 'ghost_snapshot',
      ghost_commit: { id: 'a', preexisting_untracked_files: [], preexisting_untracked_dirs: [] },
    },
    calls('exec', {}),
    said('first'),
  ]);
  expect(turns).toEqual([
    turnOf({
      id: ANY_ID,
      items: [
        userItem([{ type: 'image', url: 'data:,x' }], TIMELESS),
        timed({ type: 'reasoning', id: ANY_ID, summary: ['because'], content: [] }, TIMELESS),
        timed(
          {
            type: 'webSearch',
            id: ANY_ID,
            query: 'bread',
            action: { type: 'search', query: 'bread', queries: null },
            results: null,
          },
          TIMELESS,
        ),
        timed(
          {
            type: 'imageGeneration',
            id: ANY_ID,
            status: 'completed',
            revisedPrompt: 'a cat',
            result: 'AA==',
            savedPath: null,
          },
          TIMELESS,
        ),
        agentItem('first', TIMELESS),
      ],
    }),
  ]);
});

test('a call without its output, and an output without its call, do not break the prompt', async () => {
  expect(
    await readByModel([
      asked('one'),
      calls('exec', {}, { callId: 'lost' }),
      { type: 'function_call_output', call_id: 'stray', output: 'whose?' },
      said('first'),
    ]),
  ).toEqual([
    asked('one'),
    calls('exec', {}, { callId: 'lost' }),
    {
      type: 'function_call_output',
      call_id: 'lost',
      output: 'This call was cut off before it gave an output.',
    },
    said('first'),
  ]);
});

test('a history that does not begin with the user is kept', async () => {
  expect(await readByModel([said('unasked')])).toEqual([said('unasked')]);
});

test('a malformed item of the history is refused with its index', async () => {
  const { client } = await startServer();
  expect(
    await client.refusal('thread/resume', {
      threadId: UNKNOWN,
      history: [asked('one'), { type: 'message', role: 'user' }],
    }),
  ).toEqual({
    code: -32600,
    message: expect.stringContaining('params.history[1].content'),
    data: { code: 'invalid_params' },
  });
});
