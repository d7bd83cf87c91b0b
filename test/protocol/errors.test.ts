import { expect, test } from 'vitest';
import {
  invalidThreadId,
  noRolloutFound,
  threadNotFound,
} from '../../src/protocol/errors/thread-errors.ts';
import {
  inputTooLarge,
  noActiveTurnToSteer,
  turnMismatch,
} from '../../src/protocol/errors/turn-errors.ts';
import * as errors from '../../src/protocol/rpc-error.ts';

test.each([
  [errors.notInitialized(), 'Not initialized'],
  [errors.alreadyInitialized(), 'Already initialized'],
  [threadNotFound('t'), 'thread not found: t'],
  [noRolloutFound('t'), 'no rollout found for thread id t'],
  [noActiveTurnToSteer(), 'no active turn to steer'],
  [turnMismatch('a', 'b'), 'expected active turn id `a` but found `b`'],
  [errors.notServed('app/read'), 'app/read is not supported by this server'],
  [
    errors.needsExperimentalApi('thread/start.dynamicTools'),
    'thread/start.dynamicTools requires experimentalApi capability',
  ],
])('%s: clients match this text, and the code says that the request was refused', (error, text) => {
  expect([error.code, error.message]).toEqual([-32600, text]);
});

test('a string of the client is truncated between characters', () => {
  const text = `${'x'.repeat(99)}😀`;
  expect(errors.unknownMethod(text).message).toBe(`unknown method: ${'x'.repeat(99)}`);
  expect(invalidThreadId(text).message).toBe(
    `invalid thread id: "${'x'.repeat(99)}" is not a UUID`,
  );
});

test('the error for too much input has the limit and the length found', () => {
  const error = inputTooLarge(10, 11);
  expect([error.code, error.data]).toEqual([
    -32602,
    {
      code: 'input_too_large',
      input_error_code: 'input_too_large',
      max_chars: 10,
      actual_chars: 11,
    },
  ]);
});

test('refusals of the store are -32600, failures of the store are -32603', () => {
  const refused = errors.fromStore('active_writer', 'busy', { pid: 7 });
  const failed = errors.fromStore('store_full', 'no room', {});
  expect([refused.code, refused.data]).toEqual([-32600, { code: 'active_writer', pid: 7 }]);
  expect([failed.code, failed.data]).toEqual([-32603, { code: 'store_full' }]);
});
