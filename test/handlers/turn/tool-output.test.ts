import { describe, expect, test } from 'vitest';
import { PNG } from '../../mcp/mcp-thread.ts';
import { idOf } from '../../support/counting-ids.ts';
import { ANY_ID, timed } from '../../support/expected.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import {
  conversation,
  functionCall,
  message,
  response,
  TestModel,
} from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

const pair = (name: string, output: unknown, namespace?: string) => [
  {
    type: 'function_call',
    call_id: expect.any(String),
    name,
    ...(namespace && { namespace }),
    arguments: '{}',
  },
  { type: 'function_call_output', call_id: expect.any(String), output },
];

describe('turn/start.toolOutput', () => {
  test('begins a turn: the model reads a call with its output, clients see a dynamicToolCall item', async () => {
    const server = await startServer({
      model: new TestModel(response(message('a')), response(message('b'))),
    });
    const { client, model } = server;
    await client.request('thread/start', {});
    const toolOutput = {
      name: 'build',
      namespace: 'ci',
      output: [{ type: 'input_text' as const, text: 'It failed.' }],
      retain: true,
    };
    const { turn } = await client.request('turn/start', {
      threadId: idOf(1),
      input: [],
      toolOutput,
    });
    expect((await client.turnCompleted(turn.id)).status).toBe('completed');
    const [call, output] = conversation(model.request(1));
    expect([call, output]).toEqual(pair('build', toolOutput.output, 'ci'));
    expect(call).toMatchObject({ call_id: (output as { call_id: string }).call_id });
    const item = timed({
      type: 'dynamicToolCall',
      id: ANY_ID,
      namespace: 'ci',
      tool: 'build',
      arguments: {},
      status: 'completed',
      contentItems: [{ type: 'inputText', text: 'It failed.' }],
      success: true,
      durationMs: null,
    });
    expect(client.notifications('item/completed')[0]?.item).toEqual(item);
    const { thread } = await (await server.restart()).client.request('thread/resume', {
      threadId: idOf(1),
    });
    expect(thread.turns[0]?.items[0]).toEqual(item);
    expect(thread.preview).toBe('');
  });

  test('an output without parts is an empty text for the model: providers refuse an empty list', async () => {
    const { client, model } = await startServer({ model: new TestModel(response(message('a'))) });
    await client.request('thread/start', {});
    const { turn } = await client.request('turn/start', {
      threadId: idOf(1),
      input: [],
      toolOutput: { name: 'build', output: [] },
    });
    await client.turnCompleted(turn.id);
    expect(conversation(model.request(1)).slice(0, 2)).toEqual(pair('build', ''));
    expect(client.notifications('item/completed')[0]?.item).toMatchObject({ contentItems: [] });
  });

  test('content that providers would refuse is left out for the model, and clients see it', async () => {
    const { client, model } = await startServer({ model: new TestModel(response(message('a'))) });
    await client.request('thread/start', {});
    const png = {
      type: 'input_image' as const,
      image_url: `data:image/png;base64,${PNG}`,
      detail: 'low' as const,
    };
    const output = [
      png,
      { type: 'input_image' as const, image_url: 'https://example.com/x.png' },
      {
        type: 'input_image' as const,
        image_url: `data:image/svg+xml;base64,${Buffer.from('<svg/>').toString('base64')}`,
      },
      { type: 'input_audio' as const, audio_url: 'data:audio/wav;base64,AAAA' },
      { type: 'encrypted_content' as const, encrypted_content: 'AAAA' },
    ];
    const { turn } = await client.request('turn/start', {
      threadId: idOf(1),
      input: [],
      toolOutput: { name: 'build', output },
    });
    expect((await client.turnCompleted(turn.id)).status).toBe('completed');
    const leftOut =
      '1 × an image that is not a Base64 data URL; 1 × an image that is not a PNG, JPEG, GIF or WebP file in Base64; 1 × audio; 1 × encrypted content';
    const note = { type: 'input_text', text: `[Left out of this result: ${leftOut}.]` };
    expect(conversation(model.request(1))).toEqual(pair('build', [png, note]));
    expect(client.notifications('item/completed')[0]?.item).toMatchObject({
      contentItems: { length: 4 },
    });
  });

  test('a screenshot of more characters than a text may have is taken; the characters of texts are counted', async () => {
    const { client, model } = await startServer({ model: new TestModel(response(message('a'))) });
    await client.request('thread/start', {});
    const large = Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.alloc(1_000_000)]).toString(
      'base64',
    );
    const output = [
      { type: 'input_text' as const, text: '😀'.repeat(60_000) },
      { type: 'input_image' as const, image_url: `data:image/png;base64,${large}` },
    ];
    const { turn } = await client.request('turn/start', {
      threadId: idOf(1),
      input: [],
      toolOutput: { name: 'build', output },
    });
    expect((await client.turnCompleted(turn.id)).status).toBe('completed');
    expect(conversation(model.request(1))).toEqual(pair('build', output));
  });

  test('joins a running turn', async () => {
    const gate = new Gate();
    const model = new TestModel(
      [{ type: 'started' }, gate, ...message('a')],
      response(message('b')),
    );
    const { client } = await startServer({ model });
    await client.request('thread/start', {});
    const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('hi') });
    await model.asked(1);
    const joined = await client.request('turn/start', {
      threadId: idOf(1),
      input: [],
      toolOutput: { name: 'build', output: 'ok' },
    });
    expect(joined.turn.id).toBe(turn.id);
    expect((await client.turnCompleted(turn.id)).status).toBe('completed');
    expect(conversation(model.request(2)).slice(-2)).toEqual(pair('build', 'ok'));
  });

  test('that comes while calls run does not part them from their outputs', async () => {
    const lookup = { name: 'lookup', description: 'd', inputSchema: {} };
    const model = new TestModel(response(functionCall('lookup', {})), response(message('b')));
    const { client } = await startServer({ model });
    await client.request('thread/start', { dynamicTools: [lookup] });
    const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('hi') });
    const asked = await client.next('the call', ({ method }) => method === 'item/tool/call');
    await client.request('turn/start', {
      threadId: idOf(1),
      input: [],
      toolOutput: { name: 'build', output: 'ok' },
    });
    client.send(
      JSON.stringify({
        id: asked.id,
        result: { contentItems: [{ type: 'inputText', text: 'found' }], success: true },
      }),
    );
    await client.turnCompleted(turn.id);
    const calls = conversation(model.request(2)).flatMap((item) =>
      'call_id' in item ? [[item.type, item.call_id]] : [],
    );
    const [first, second, ...outputs] = calls;
    expect([first?.[0], second?.[0]]).toEqual(['function_call', 'function_call']);
    expect(outputs).toEqual([
      ['function_call_output', first?.[1]],
      ['function_call_output', second?.[1]],
    ]);
  });

  test.each<[string, object, object]>([
    [
      'input beside it',
      { input: text('hi'), toolOutput: { name: 'build', output: 'x' } },
      {
        code: -32600,
        message: expect.stringMatching(/^`toolOutput` cannot be combined with nonempty `input`/),
      },
    ],
    [
      'an empty name',
      { toolOutput: { name: ' ', output: 'x' } },
      { message: 'params.toolOutput.name must not be empty' },
    ],
    [
      'a name with a dot',
      { toolOutput: { name: 'a.b', output: 'x' } },
      { message: expect.stringMatching(/^params\.toolOutput\.name must have/) },
    ],
    [
      'a bad namespace',
      { toolOutput: { name: 'a', namespace: 'b c', output: 'x' } },
      { message: expect.stringMatching(/toolOutput\.namespace/) },
    ],
    [
      'too much text in two parts',
      {
        toolOutput: {
          name: 'a',
          output: [
            { type: 'input_text', text: 'x'.repeat(1_048_576) },
            { type: 'input_text', text: 'y' },
          ],
        },
      },
      { code: -32602, data: expect.objectContaining({ actual_chars: 1_048_577 }) },
    ],
    [
      'too much output',
      { toolOutput: { name: 'a', output: 'x'.repeat(1_048_577) } },
      { code: -32602 },
    ],
  ])('refuses %s, and begins nothing', async (_, params, error) => {
    const { client } = await startServer();
    await client.request('thread/start', {});
    expect(
      await client.refusal('turn/start', { threadId: idOf(1), input: [], ...params }),
    ).toMatchObject(error);
    expect(client.notifications('turn/started')).toEqual([]);
  });
});
