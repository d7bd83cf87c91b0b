import { expect, test } from 'vitest';
import type { LogEntry } from '../../src/store/log-entry.ts';
import { type AuthoredItem, ModelItems } from '../../src/store/model-items.ts';
import { asked } from '../support/test-model.ts';
import { idOf } from './samples.ts';

const turn = idOf(1);

function orderedTexts(...entries: LogEntry[]): string[] {
  const order: AuthoredItem[] = [];
  const items = new ModelItems({
    take: (each) => order.push(each),
    restart: (kept) => order.splice(0, order.length, ...kept),
  });
  for (const entry of entries) items.add(entry);
  return [...order, ...items.deferred].flatMap(({ item }) =>
    item.type === 'message' ? item.content.map((part) => ('text' in part ? part.text : '')) : [],
  );
}

function model(
  text: string,
  { turnId = turn, deferred = false }: { turnId?: string | null; deferred?: boolean } = {},
): LogEntry {
  return { kind: 'model', turnId, item: asked(text), ...(deferred ? { deferred } : {}) };
}

test('deferred items are read at the next deferredRead', () => {
  expect(
    orderedTexts(
      model('a'),
      model('x', { deferred: true }),
      model('b'),
      { kind: 'deferredRead', turnId: turn },
      model('c'),
    ),
  ).toEqual(['a', 'b', 'x', 'c']);
});

test('without one, deferred items are read after all other items of their turn', () => {
  const deferred = [
    model('a'),
    model('x', { deferred: true }),
    model('b'),
    model('y', { deferred: true }),
  ];
  expect(orderedTexts(...deferred)).toEqual(['a', 'b', 'x', 'y']);
  expect(orderedTexts(...deferred, model('c', { turnId: idOf(2) }))).toEqual([
    'a',
    'b',
    'x',
    'y',
    'c',
  ]);
  expect(orderedTexts(...deferred, model('c', { turnId: null }))).toEqual([
    'a',
    'b',
    'x',
    'y',
    'c',
  ]);
});

test('a later turn defers its own items, and other entries change nothing', () => {
  const start: LogEntry = { kind: 'turnStarted', turnId: idOf(2), startedAtMs: 1 };
  expect(
    orderedTexts(
      model('x', { deferred: true }),
      start,
      model('y', { turnId: idOf(2), deferred: true }),
      model('b', { turnId: idOf(2) }),
    ),
  ).toEqual(['x', 'b', 'y']);
});
