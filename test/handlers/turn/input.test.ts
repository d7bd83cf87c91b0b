import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ResponseItem, UserInput } from '../../../src/protocol/generated/types.ts';
import { requiredValues } from '../../protocol/required-enums.ts';
import { idOf } from '../../support/counting-ids.ts';
import { userItem } from '../../support/expected.ts';
import { conversation, message, response, TestModel } from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function withThread(files: Record<string, string> = {}): Promise<TestServer> {
  const server = await startServer({ model: new TestModel(response(message('ok'))), files });
  await server.client.request('thread/start', {});
  return server;
}

/**
 * The model's input for a user input, and the item that clients see: the same announced and read,
 * also after a restart.
 */
async function sent(
  server: TestServer,
  input: UserInput[],
): Promise<{ model: ResponseItem[]; item: unknown }> {
  expect(await server.client.turn(idOf(1), input)).toMatchObject({ status: 'completed' });
  const item = server.client.notifications('item/completed')[0]?.item;
  const { client } = await server.restart();
  const { thread } = await client.request('thread/read', { threadId: idOf(1), includeTurns: true });
  expect(thread.turns[0]?.items[0]).toEqual(item);
  return { model: conversation(server.model.request(1)), item };
}

function userMessage(
  ...content: Extract<ResponseItem, { type: 'message' }>['content']
): ResponseItem {
  return { type: 'message', role: 'user', content };
}

test('parts of text with their elements', async () => {
  const input: UserInput[] = [
    {
      type: 'text',
      text: '@file schön',
      text_elements: [{ byteRange: { start: 0, end: 5 }, placeholder: '@file' }],
    },
    { type: 'text', text: 'second', text_elements: [] },
  ];
  expect(await sent(await withThread(), input)).toEqual({
    item: userItem(input),
    model: [
      userMessage(
        { type: 'input_text', text: '@file schön' },
        { type: 'input_text', text: 'second' },
      ),
    ],
  });
});

test('text without elements has none', async () => {
  const { item } = await sent(await withThread(), [{ type: 'text', text: 'plain' }]);
  expect(item).toEqual(userItem([{ type: 'text', text: 'plain', text_elements: [] }]));
});

test('text with any characters is passed on unchanged', async () => {
  const text = 'a\u0000b\u2028c\u{1F9F5}\ud83e "quoted" \\ \r\n\u007f';
  const { item, model } = await sent(await withThread(), [{ type: 'text', text }]);
  expect(item).toEqual(userItem([{ type: 'text', text, text_elements: [] }]));
  expect(model).toEqual([userMessage({ type: 'input_text', text })]);
});

test('an image by URL, and by file id', async () => {
  const url = `data:image/png;base64,${PNG}`;
  const input: UserInput[] = [
    { type: 'text', text: 'see', text_elements: [] },
    { type: 'image', url },
    { type: 'image', fileId: 'file-1' },
  ];
  const { item, model } = await sent(await withThread(), input);
  expect(item).toEqual(userItem(input));
  expect(model).toEqual([
    userMessage(
      { type: 'input_text', text: 'see' },
      { type: 'input_image', image_url: url },
      { type: 'input_image', file_id: 'file-1' },
    ),
  ]);
});

test('a local image is read when the turn begins', async () => {
  const server = await withThread();
  const path = join(server.cwd, 'dot.png');
  writeFileSync(path, Buffer.from(PNG, 'base64'));
  const { item, model } = await sent(server, [{ type: 'localImage', path }]);
  expect(item).toEqual(userItem([{ type: 'localImage', path }]));
  expect(model).toEqual([
    userMessage({ type: 'input_image', image_url: `data:image/png;base64,${PNG}` }),
  ]);
});

test('the detail of an image reaches the model; clients only get values that all of them know', async () => {
  const server = await withThread();
  const path = join(server.cwd, 'dot.png');
  writeFileSync(path, Buffer.from(PNG, 'base64'));
  const url = `data:image/png;base64,${PNG}`;
  const { item, model } = await sent(server, [
    { type: 'localImage', path, detail: 'low' },
    { type: 'image', url, detail: 'high' },
  ]);
  expect(item).toEqual(
    userItem([
      { type: 'localImage', path, detail: null },
      { type: 'image', url, detail: 'high' },
    ]),
  );
  expect(model).toEqual([
    userMessage(
      { type: 'input_image', image_url: url, detail: 'low' },
      { type: 'input_image', image_url: url, detail: 'high' },
    ),
  ]);
});

test.each(['auto', 'low', 'high', 'original'] as const)(
  'the detail `%s` of an image and of a local image',
  async (detail) => {
    const server = await withThread();
    const path = join(server.cwd, 'dot.png');
    writeFileSync(path, Buffer.from(PNG, 'base64'));
    const url = `data:image/png;base64,${PNG}`;
    const { item, model } = await sent(server, [
      { type: 'localImage', path, detail },
      { type: 'image', url, detail },
    ]);
    const shown = requiredValues('ItemStartedNotification', 'ImageDetail').includes(detail)
      ? detail
      : null;
    expect(item).toEqual(
      userItem([
        { type: 'localImage', path, detail: shown },
        { type: 'image', url, detail: shown },
      ]),
    );
    expect(model).toEqual([
      userMessage(
        { type: 'input_image', image_url: url, detail },
        { type: 'input_image', image_url: url, detail },
      ),
    ]);
  },
);

test('if a local file is not an image, the model is told so, and the file is not sent', async () => {
  const server = await withThread();
  const path = join(server.cwd, 'page.png');
  writeFileSync(path, '<html>');
  const { model } = await sent(server, [{ type: 'localImage', path }]);
  expect(model).toEqual([
    userMessage({
      type: 'input_text',
      text: `[The image "${path}" could not be read: it is not a PNG, JPEG, GIF, WebP or BMP file.]`,
    }),
  ]);
});

test('if local images cannot be read, the model is told so, and the turn does not fail', async () => {
  const server = await withThread();
  const absent = join(server.cwd, 'absent.png');
  const folder = join(server.cwd, 'folder.png');
  mkdirSync(folder);
  const { model } = await sent(server, [
    { type: 'localImage', path: absent },
    { type: 'localImage', path: folder },
  ]);
  expect(model).toEqual([
    userMessage(
      {
        type: 'input_text',
        text: expect.stringContaining(`The image "${absent}" could not be read`),
      },
      {
        type: 'input_text',
        text: expect.stringContaining(`The image "${folder}" could not be read`),
      },
    ),
  ]);
});

test('audio by URL, and a local file by its name', async () => {
  const input: UserInput[] = [
    { type: 'audio', url: 'data:audio/wav;base64,AA==' },
    { type: 'audio', fileId: 'file-2' },
    { type: 'localAudio', path: '/a.wav' },
  ];
  const { item, model } = await sent(await withThread(), input);
  expect(item).toEqual(userItem(input));
  expect(model).toEqual([
    userMessage(
      { type: 'input_audio', audio_url: 'data:audio/wav;base64,AA==' },
      { type: 'input_audio', file_id: 'file-2' },
    ),
    userMessage({ type: 'input_text', text: '[The user attached the audio file "/a.wav".]' }),
  ]);
});

test('the model gets the body of a skill in the input; other skills are only named', async () => {
  const skill = (name: string) =>
    `---\nname: ${name}\ndescription: about ${name}\n---\nBODY of ${name}\n`;
  const server = await withThread({
    'home/skills/baker/SKILL.md': skill('baker'),
    'home/skills/tailor/SKILL.md': skill('tailor'),
  });
  const path = join(server.home, 'skills', 'baker', 'SKILL.md');
  const input: UserInput[] = [
    { type: 'text', text: 'go', text_elements: [] },
    { type: 'skill', name: 'baker', path },
  ];
  const { item, model } = await sent(server, input);
  expect(item).toEqual(userItem(input));
  expect(model).toEqual([
    userMessage({ type: 'input_text', text: 'go' }),
    userMessage({ type: 'input_text', text: expect.stringContaining('BODY of baker') }),
  ]);
  const told = JSON.stringify(server.model.request(1).input);
  expect([
    told.includes('about baker'),
    told.includes('about tailor'),
    told.includes('BODY of tailor'),
  ]).toEqual([true, true, false]);
});

test('a skill named with a dollar sign in the text counts as well', async () => {
  const server = await withThread({
    'home/skills/baker/SKILL.md': '---\nname: baker\ndescription: bread\n---\nBODY\n',
  });
  const { model } = await sent(server, [{ type: 'text', text: 'use $baker now' }]);
  expect(model).toEqual([
    userMessage({ type: 'input_text', text: 'use $baker now' }),
    userMessage({ type: 'input_text', text: expect.stringContaining('BODY') }),
  ]);
});

test('if a skill does not exist, the model is told so', async () => {
  const server = await withThread();
  const path = join(server.home, 'skills', 'nobody', 'SKILL.md');
  const { model } = await sent(server, [{ type: 'skill', name: 'nobody', path }]);
  expect(model).toEqual([
    userMessage({ type: 'input_text', text: expect.stringContaining(`${path} does not exist`) }),
  ]);
});

test('a mention is kept for clients', async () => {
  const input: UserInput[] = [
    { type: 'text', text: 'see $demo', text_elements: [] },
    { type: 'mention', name: 'demo', path: 'app://demo' },
  ];
  const { item, model } = await sent(await withThread(), input);
  expect(item).toEqual(userItem(input));
  expect(model).toEqual([userMessage({ type: 'input_text', text: 'see $demo' })]);
});
