import { describe, expect, test } from 'vitest';
import { validateRequired } from '../support/generated/validate-required.js';
import { validateNotification, validateResult } from '../support/generated/validate-sent.js';

const TIMES = { startedAtMs: 1, completedAtMs: null };

const turn = {
  id: 'turn',
  rootTurnId: 'turn',
  items: [],
  itemsView: 'notLoaded',
  status: 'inProgress',
  error: null,
  startedAt: null,
  completedAt: null,
  durationMs: null,
};

describe('the validators of what the server sends', () => {
  test('pass a message with all its keys', () => {
    expect(validateResult['turn/start']?.({ turn })).toBe(true);
    expect(validateResult['thread/name/set']?.({})).toBe(true);
    expect(validateNotification['turn/started']?.({ threadId: 'thread', turn })).toBe(true);
  });

  test('refuse a missing key that must be null', () => {
    const { durationMs, ...incomplete } = turn;
    expect(validateResult['turn/start']?.({ turn: incomplete })).toBe(false);
  });

  test('refuse null in fields for which only clients may send null', () => {
    const started = (textElements: null | []) => ({
      threadId: 'thread',
      turnId: 'turn',
      startedAtMs: 0,
      item: {
        type: 'userMessage',
        id: 'item',
        clientId: null,
        content: [{ type: 'text', text: 'hi', text_elements: textElements }],
        ...TIMES,
      },
    });
    expect(validateNotification['item/started']?.(started([]))).toBe(true);
    expect(validateNotification['item/started']?.(started(null))).toBe(false);
  });

  test('hold item/started to the required schema too, which has no partial_answer', () => {
    const started = (phase: string) => ({
      threadId: 'thread',
      turnId: 'turn',
      startedAtMs: 0,
      item: { type: 'agentMessage', id: 'item', text: '', phase, ...TIMES },
    });
    expect(validateRequired['item/started']?.(started('final_answer'))).toBe(true);
    expect(validateNotification['item/started']?.(started('partial_answer'))).toBe(true);
    expect(validateRequired['item/started']?.(started('partial_answer'))).toBe(false);
  });
});
