import { expect, test } from 'vitest';
import { EventReader, STREAM_CHARS_MAX } from '../../src/model/http/response/event-reader.ts';

test('a response that never ends is stopped by its length', () => {
  const reader = new EventReader({ skipsNoise: false });
  const piece = `: ${'x'.repeat(4 * 1024 * 1024)}\n`;
  let read = reader.feed(piece);
  for (let chars = piece.length; chars + piece.length <= STREAM_CHARS_MAX; chars += piece.length)
    read = reader.feed(piece);
  expect(read).toEqual({ events: [], skipped: 0, done: false, problem: null });
  expect(reader.feed(piece)).toEqual({
    events: [],
    skipped: 0,
    done: false,
    problem: `sent a response of more than ${STREAM_CHARS_MAX} characters`,
  });
});

test('data on several lines is one event, whose name may stand outside its JSON', () => {
  expect(
    new EventReader({ skipsNoise: false }).feed('event: error\ndata: {"message":\ndata: "m"}\n\n'),
  ).toEqual({
    events: [{ type: 'error', message: 'm' }],
    skipped: 0,
    done: false,
    problem: null,
  });
});

test('nothing is read after [DONE], and nothing of an event that is not whole', () => {
  const reader = new EventReader({ skipsNoise: false });
  expect(reader.feed('data: {"a":1}\n\ndata: {"b":2}\n')).toEqual({
    events: [{ a: 1 }],
    skipped: 0,
    done: false,
    problem: null,
  });
  expect(reader.feed('\ndata: [DONE]\n\ndata: {"c":3}\n\n')).toEqual({
    events: [{ b: 2 }],
    skipped: 0,
    done: true,
    problem: null,
  });
});

test('a long event is read in steps, in its place', async () => {
  const text = 'é"\n'.repeat(500_000);
  const data = [{ a: 1 }, { text }, { b: 2 }]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('');
  expect(
    await new EventReader({ skipsNoise: false }).feed(
      `${data}data: ["${'x'.repeat(2_000_000)}]\n\ndata: {"c":3}\n\n`,
    ),
  ).toEqual({
    events: [{ a: 1 }, { text }, { b: 2 }],
    skipped: 0,
    done: false,
    problem: 'sent an event that is not JSON',
  });
});

test('what is no JSON object can be passed over, and [DONE] with it', () => {
  const reader = new EventReader({ skipsNoise: true });
  expect(
    reader.feed('data: {"a":1}\n\ndata: {broken\n\ndata: 7\n\ndata: [DONE]\n\ndata: {"b":2}\n\n'),
  ).toEqual({
    events: [{ a: 1 }, { b: 2 }],
    skipped: 2,
    done: false,
    problem: null,
  });
});

test('a failure in a field of its own, as llama.cpp had until 2025, is an event; what is no JSON there is passed over', () => {
  const reader = new EventReader({ skipsNoise: false });
  expect(
    reader.feed(
      'data: {"a":1}\n\nerror: {"code":400,"message":"m"}\n\nerror: none\n\ndata: [DONE]\n\n',
    ),
  ).toEqual({
    events: [{ a: 1 }, { error: { code: 400, message: 'm' } }],
    skipped: 0,
    done: true,
    problem: null,
  });
});
