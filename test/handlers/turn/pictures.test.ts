import { expect, test } from 'vitest';
import type { ModelEvent } from '../../../src/model/model.ts';
import { pictureSize } from '../../../src/model/pictures/picture-size.ts';
import type { ResponseItem, UserInput } from '../../../src/protocol/generated/types.ts';
import { idOf } from '../../support/counting-ids.ts';
import { userItem } from '../../support/expected.ts';
import { dataUrl, png, SMALL } from '../../support/pictures.ts';
import { conversation, errorOf, failed, message, response } from '../../support/test-model.ts';
import type { TestServer } from '../../support/test-server.ts';
import { threadAnswering } from '../../support/thread-with.ts';

const THREAD = idOf(1);
const ok = response(message('ok'));
const REFUSED =
  'P answered HTTP 400. The image data you provided does not represent a valid image.';
const NOT_TAKEN =
  '[An image was here. It is not shown, because the provider of the model refused it.]';
const refusal = (text = REFUSED): ModelEvent => ({
  type: 'failed',
  error: errorOf(text),
  refusesPictures: true,
});
const GOOD = dataUrl('image/png', png(4, 2));

const see = (...urls: string[]): UserInput[] => urls.map((url) => ({ type: 'image', url }));
const injected = (...urls: string[]): ResponseItem => ({
  type: 'message',
  role: 'user',
  content: urls.map((image_url) => ({ type: 'input_image', image_url })),
});

/** The pictures and texts of the messages of the user in a request. */
function parts(server: TestServer, request: number): unknown[] {
  return conversation(server.model.request(request)).flatMap((item) =>
    item.type === 'message' && item.role === 'user'
      ? item.content.map((part) =>
          part.type === 'input_image' ? part.image_url : 'text' in part ? part.text : undefined,
        )
      : [],
  );
}

const because = (why: string) => `[An image was here. It is not shown, because ${why}.]`;
const NO_IMAGE = because('its data is not a PNG, JPEG, GIF, WebP or BMP image');
const text = Buffer.from('no image at all, but long enough for a header').toString('base64');

test.each<[string, string, string]>([
  ['bytes that are no image', `data:image/png;base64,${text}`, NO_IMAGE],
  ['no bytes', 'data:image/png;base64,', NO_IMAGE],
  [
    'a header that is cut off',
    dataUrl('image/jpeg', SMALL['image/jpeg']?.subarray(0, 30) ?? Buffer.alloc(0)),
    NO_IMAGE,
  ],
  [
    'a type of other data',
    `data:text/plain;base64,${text}`,
    because('its data is of another type (text/plain)'),
  ],
  [
    'an image as another type',
    GOOD.replace('image/png', 'text/plain'),
    because('its data is of another type (text/plain)'),
  ],
  [
    'no type',
    GOOD.replace('image/png', ''),
    because('its data is of another type (none is given)'),
  ],
  ['a vector image', `data:image/svg+xml;base64,${text}`, NO_IMAGE],
  [
    'data that is not Base64',
    'data:image/png;base64,%%%%',
    because('its data is not valid Base64'),
  ],
  [
    'a URL of text',
    'data:image/png,abc',
    because('its address is neither a Base64 data URL nor a web address'),
  ],
  [
    'a file',
    'file:///etc/passwd',
    because('its address is neither a Base64 data URL nor a web address'),
  ],
  [
    'a bomb',
    dataUrl('image/png', png(60_000, 60_000, 1000)),
    because('its size of 60000 × 60000 pixels exceeds the limit'),
  ],
  [
    'a large image that is cut off',
    dataUrl('image/png', png(3000, 2000, 1000)),
    because('its data of 3000 × 2000 pixels is damaged, or takes too long to decode'),
  ],
  ['an image of another image type', GOOD.replace('image/png', 'image/jpeg'), GOOD],
])('%s: the model reads what it can, clients see what was given', async (_, url, told) => {
  const server = await threadAnswering([ok, ok]);
  expect(await server.client.turn(THREAD, see(url))).toMatchObject({ status: 'completed' });
  expect(parts(server, 1)).toEqual([told]);
  expect(server.client.notifications('item/completed')[0]?.item).toEqual(userItem(see(url)));
  await server.client.request('thread/inject_items', { threadId: THREAD, items: [injected(url)] });
  expect(await server.client.turn(THREAD, 'next')).toMatchObject({ status: 'completed' });
  expect(parts(server, 2)).toEqual([told, told, 'next']);
});

test.each(['https://example.com/a.png', 'HTTP://example.com/a.png', ' https://example.com/a.png'])(
  '%s is refused as an image',
  async (url) => {
    const server = await threadAnswering([ok]);
    const refused = { code: -32600, data: { code: 'remote_image' } };
    const input = see(GOOD, url);
    expect(await server.client.refusal('turn/start', { threadId: THREAD, input })).toMatchObject(
      refused,
    );
    expect(
      await server.client.refusal('turn/steer', {
        threadId: THREAD,
        input,
        expectedTurnId: idOf(2),
      }),
    ).toMatchObject(refused);
    const items = [injected(GOOD), injected(GOOD, url)];
    expect(
      await server.client.refusal('thread/inject_items', { threadId: THREAD, items }),
    ).toMatchObject(refused);
    await server.client.turn(THREAD, 'next');
    expect(parts(server, 1)).toEqual(['next']);
  },
);

test('a large image is scaled for the model, the same in each request, and whole for clients', async () => {
  const url = dataUrl('image/png', png(3000, 2400));
  const server = await threadAnswering([ok, ok]);
  await server.client.turn(THREAD, see(url));
  expect(server.client.notifications('item/completed')[0]?.item).toEqual(userItem(see(url)));
  await server.client.turn(THREAD, 'next');
  const [sent] = parts(server, 1);
  const bytes = Buffer.from(String(sent).replace('data:image/png;base64,', ''), 'base64');
  expect(pictureSize('image/png', bytes)).toEqual({ width: 2048, height: 1638 });
  expect(parts(server, 2)).toEqual([sent, 'next']);
});

test('an image of up to 2048 pixels is sent as it is', async () => {
  const url = dataUrl('image/png', png(2048, 10));
  const server = await threadAnswering([ok]);
  await server.client.turn(THREAD, see(url));
  expect(parts(server, 1)).toEqual([url]);
});

test('an image that the provider refuses is left out, which clients are told once; later turns do not fail', async () => {
  const bad = dataUrl('image/gif', SMALL['image/gif'] ?? Buffer.alloc(0));
  const server = await threadAnswering([
    ok,
    [{ type: 'started' }, { type: 'answered', model: 'm-1', turnState: 's' }, refusal()],
    ok,
    ok,
  ]);
  await server.client.turn(THREAD, see(GOOD));
  expect(await server.client.turn(THREAD, see(bad))).toMatchObject({
    status: 'completed',
    error: null,
  });
  const told = {
    message: `${REFUSED} The request is sent again without the image.`,
    codexErrorInfo: 'other',
    additionalDetails: null,
  };
  expect(server.client.notifications('error')).toEqual([
    { error: told, willRetry: true, threadId: THREAD, turnId: expect.any(String) },
  ]);
  expect(await server.client.turn(THREAD, see(bad, GOOD))).toMatchObject({ status: 'completed' });
  // The first image had been taken before, so it cannot be the cause.
  expect([2, 3, 4].map((request) => parts(server, request))).toEqual([
    [GOOD, bad],
    [GOOD, NOT_TAKEN],
    [GOOD, NOT_TAKEN, NOT_TAKEN, GOOD],
  ]);
  expect(server.client.notifications('error')).toHaveLength(1);
});

test('a model that takes no images at all is asked once with an image, and then without any', async () => {
  const none = [refusal('P answered HTTP 400. This model does not support image input.')];
  const server = await threadAnswering([none, ok, ok]);
  expect(await server.client.turn(THREAD, see(GOOD))).toMatchObject({ status: 'completed' });
  expect(await server.client.turn(THREAD, 'next')).toMatchObject({ status: 'completed' });
  expect([1, 2, 3].map((request) => parts(server, request))).toEqual([
    [GOOD],
    [NOT_TAKEN],
    [NOT_TAKEN, 'next'],
  ]);
});

test('if the images that the model had taken before are refused too, it is asked without any', async () => {
  const none = [refusal()];
  const other = dataUrl('image/png', png(5, 5));
  const server = await threadAnswering([ok, none, none, ok]);
  await server.client.turn(THREAD, see(GOOD));
  expect(await server.client.turn(THREAD, see(other))).toMatchObject({ status: 'completed' });
  expect([2, 3, 4].map((request) => parts(server, request))).toEqual([
    [GOOD, other],
    [GOOD, NOT_TAKEN],
    [NOT_TAKEN, NOT_TAKEN],
  ]);
});

test('after a restart, a refused image in the history is found again, and the turn goes on', async () => {
  const server = await threadAnswering([[refusal()], ok]);
  await server.client.turn(THREAD, see(GOOD));
  const restarted = await server.restart();
  restarted.model.push([refusal()], ok);
  await restarted.client.request('thread/resume', { threadId: THREAD });
  expect(await restarted.client.turn(THREAD, 'next')).toMatchObject({ status: 'completed' });
  expect(parts(restarted, restarted.model.requests.length)).toEqual([NOT_TAKEN, 'next']);
});

test('another refusal, and one of a request without images, ends the turn', async () => {
  const quota = [failed('P answered HTTP 403. No.')];
  const server = await threadAnswering([quota, [refusal()]]);
  expect(await server.client.turn(THREAD, see(GOOD))).toMatchObject({
    status: 'failed',
    error: { message: 'P answered HTTP 403. No.' },
  });
  const { thread } = await server.client.request('thread/start', {});
  expect(await server.client.turn(thread.id, 'text')).toMatchObject({
    status: 'failed',
    error: { message: REFUSED },
  });
  expect(server.model.requests).toHaveLength(2);
});

test.each([
  ['is refused too', [refusal()]],
  ['fails for another reason', [failed('P answered HTTP 503.')]],
])(
  'if the request without the images %s, they are sent again in the next turn',
  async (_, second) => {
    const server = await threadAnswering([[refusal()], second, ok]);
    expect(await server.client.turn(THREAD, see(GOOD))).toMatchObject({ status: 'failed' });
    expect(await server.client.turn(THREAD, 'next')).toMatchObject({ status: 'completed' });
    expect([1, 2, 3].map((request) => parts(server, request))).toEqual([
      [GOOD],
      [NOT_TAKEN],
      [GOOD, 'next'],
    ]);
  },
);
