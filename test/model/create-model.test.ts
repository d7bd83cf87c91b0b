import { expect, test } from 'vitest';
import { createModel } from '../../src/model/providers/create-model.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { chatAnswered } from './chat-stream.ts';
import {
  answered,
  answeredEvents,
  collect,
  never,
  ProviderServer,
  providerAt,
  quietLog,
  request,
} from './provider-server.ts';

const deps = () => ({ env: {}, clock: new FakeClock(), userAgent: 'test/1', log: quietLog });

test('wire_api decides on the model', async () => {
  await using server = await ProviderServer.start(answered);
  expect(
    await collect((await createModel(providerAt(server.port), deps())).stream(request, never)),
  ).toEqual(answeredEvents);
  await using chat = await ProviderServer.start(chatAnswered);
  const chatModel = await createModel(providerAt(chat.port, { wireApi: 'chat' }), deps());
  expect((await collect(chatModel.stream(request, never))).at(-1)).toEqual({
    type: 'completed',
    usage: null,
  });
  const embedded = await createModel(providerAt(0, { wireApi: 'embedded', baseUrl: null }), deps());
  expect((await collect(embedded.stream(request, never))).map(({ type }) => type)).toContain(
    'reasoningSummaryDelta',
  );
});
