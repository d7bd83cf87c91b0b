import { expect, test } from 'vitest';
import type { RequestContext } from '../../../src/handlers/requested/method.ts';
import type { ThreadDeps } from '../../../src/handlers/thread-loading/thread-deps.ts';
import { turnMethods } from '../../../src/handlers/turn.ts';

test('the client gets the response to turn/start before the work of the turn', async () => {
  const log: string[] = [];
  const run = () => {
    log.push('the turn runs');
    queueMicrotask(() => log.push('it works'));
  };
  const start = async () => ({ turn: {}, afterAnswer: run });
  const threads = { require: () => ({ turns: { start } }) };
  const methods = turnMethods({ threads, cwd: '/' } as unknown as ThreadDeps);
  let effect = () => {};
  const context = {
    caller: { flush: () => log.push('the response is written') },
    after: (given: () => void) => {
      effect = given;
    },
  } as unknown as RequestContext;
  await methods['turn/start'].handle({ threadId: 't', input: [] }, context);
  expect(log).toEqual([]);
  effect();
  await Promise.resolve();
  expect(log).toEqual(['the turn runs', 'the response is written', 'it works']);
});
