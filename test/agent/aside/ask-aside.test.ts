import { describe, expect, test } from 'vitest';
import { askAside } from '../../../src/agent/aside/ask-aside.ts';
import type { Model, ModelEvent, ModelRequest } from '../../../src/model/model.ts';
import { message, response, TestModel } from '../../support/test-model.ts';

const request = { model: 'm' } as ModelRequest;
const { signal } = new AbortController();

async function* endless(event: ModelEvent): AsyncGenerator<ModelEvent> {
  for (;;) yield event;
}

const item = (text: string): ModelEvent => ({
  type: 'itemCompleted',
  item: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
});

describe('an answer without an end is stopped', () => {
  test.each([
    [
      'of text',
      { type: 'textDelta', itemId: 'i', delta: 'x'.repeat(1_000) } as ModelEvent,
      '1000000 characters',
    ],
    ['of small items that come without deltas', item(''), '1000 items'],
    ['of large items that come without deltas', item('x'.repeat(100_000)), '4000000 bytes'],
  ])('%s', async (_, event, limit) => {
    const model: Model = { stream: () => endless(event) };
    const answer = await askAside(model, request, signal);
    expect(answer).toMatchObject({
      error: { message: `The model's answer exceeded the limit of ${limit} and was stopped.` },
    });
  });
});

test('a model that throws has failed', async () => {
  const model: Model = {
    stream: () => {
      throw new Error('broken');
    },
  };
  expect(await askAside(model, request, signal)).toMatchObject({ error: { message: 'broken' } });
});

test('an answer within the limits is returned', async () => {
  const model = new TestModel(response(message('hello')));
  expect(await askAside(model, request, signal)).toMatchObject({
    text: 'hello',
    items: [{ type: 'message' }],
  });
});
