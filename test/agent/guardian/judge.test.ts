import { describe, expect, test, vi } from 'vitest';
import { Judge, type JudgeDeps } from '../../../src/agent/guardian/judge.ts';
import type { TurnContext } from '../../../src/agent/turn/turn-part.ts';
import type { Config } from '../../../src/config/config.ts';
import type { Model, ModelRequest } from '../../../src/model/model.ts';
import {
  type Processes,
  SandboxUnavailableError,
} from '../../../src/sandbox/processes/processes.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import type { ThreadSettings } from '../../../src/store/thread-record.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { asked, failed, message, response, TestModel } from '../../support/test-model.ts';
import { ALLOW } from './guardian-server.ts';

const PLANNED = { tool: 'exec_command', command: ['touch', 'a'], cwd: '/' };
const approves = () => response(message(JSON.stringify(ALLOW)));
const turn = (signal = new AbortController().signal) =>
  ({
    signal,
    settings: {
      model: 'm',
      modelProvider: 'own',
      effort: 'high',
      serviceTier: 'flex',
      cwd: '/',
    } as ThreadSettings,
  }) as TurnContext;

/** A judge, with these settings of `auto_review`. */
function judgeWith(settings: Record<string, string>, deps: Partial<JudgeDeps> = {}) {
  const values: Record<string, unknown> = { 'auto_review.timeout_ms': 90_000, ...settings };
  const clock = new FakeClock();
  const model = new TestModel(approves());
  const judge = new Judge({
    ...{
      threadId: 't',
      clock,
      home: '/nowhere',
      env: {},
      sandbox: { available: async () => ({ problem: 'none' }) },
    },
    processes: {} as Processes,
    config: () =>
      ({ get: (key: string) => values[key] ?? null, modelGiven: true }) as unknown as Config,
    ownModel: () => model,
    ownWindow: () => ({ tokens: 258_400, isKnown: false, mayChange: false }),
    modelFor: async () => model,
    history: async () => [{ item: asked('hi'), author: 'user' }],
    goal: () => null,
    onUsage: async () => {},
    ...deps,
  });
  return { judge, clock, model };
}

const ELSEWHERE = { 'auto_review.model_provider': 'elsewhere' };
const never = () => new Promise<Model>(() => {});

test.each([
  ['there is no sandbox', async () => ({ problem: 'none' }), ['read_file']],
  [
    'the sandbox cannot even be tried',
    () => Promise.reject(new SandboxUnavailableError('no filter')),
    ['read_file'],
  ],
  ['there is a sandbox', async () => ({ name: 'bubblewrap' }), ['read_file', 'exec_command']],
])('the model gets commands only if there is a sandbox: %s', async (_, available, tools) => {
  const { judge, model } = judgeWith({}, { sandbox: { available } });
  expect(await judge.judge(PLANNED, turn())).toMatchObject({ status: 'approved' });
  expect(model.request(1).tools.map(({ name }) => name)).toEqual(tools);
});

describe('whatever fails is a denial', () => {
  test.each([
    [
      'the model cannot be made',
      { modelFor: () => Promise.reject(new TypeError('no such thing')) },
    ],
    ['the model throws', { modelFor: async () => throwing }],
    ['the configuration throws', { config: () => fails() }],
  ])('%s', async (_, deps: Partial<JudgeDeps>) => {
    const { judge } = judgeWith(ELSEWHERE, deps);
    const rationale = 'The automatic review failed. no such thing';
    expect(await judge.judge(PLANNED, turn())).toMatchObject({
      status: 'denied',
      hasFailed: true,
      rationale,
    });
  });

  test('but an error of the store is passed on', async () => {
    const error = new StoreError('store_full', 'the disk is full', { file: 'heddle.db' });
    const { judge } = judgeWith({}, { history: () => Promise.reject(error) });
    await expect(judge.judge(PLANNED, turn())).rejects.toBe(error);
  });
});

const throwing: Model = {
  stream: () => fails(),
};

function fails(): never {
  throw new TypeError('no such thing');
}

describe('a model that does not get ready', () => {
  test('does not outlast the deadline', async () => {
    const { judge, clock } = judgeWith(ELSEWHERE, { modelFor: never });
    const judged = judge.judge(PLANNED, turn());
    await clock.timerOf(90_000);
    clock.advance(90_000);
    expect(await judged).toMatchObject({ status: 'timedOut' });
  });

  test('does not outlast the turn', async () => {
    const interrupt = new AbortController();
    const { judge, clock } = judgeWith(ELSEWHERE, { modelFor: never });
    const judged = judge.judge(PLANNED, turn(interrupt.signal));
    await clock.timerOf(90_000);
    interrupt.abort();
    expect(await judged).toMatchObject({ status: 'aborted' });
    expect(clock.timers).toEqual([]);
  });
});

test('settings of the thread go to its own provider only', async () => {
  const requestOf = async (settings: Record<string, string>): Promise<ModelRequest> => {
    const { judge, model } = judgeWith(settings);
    expect(await judge.judge(PLANNED, turn())).toMatchObject({ status: 'approved' });
    return model.request(1);
  };
  expect(await requestOf({})).toMatchObject({ model: 'm', effort: 'high', serviceTier: 'flex' });
  expect(await requestOf({ 'auto_review.model': 'other' })).toMatchObject({
    model: 'other',
    effort: null,
    serviceTier: 'flex',
  });
  expect(await requestOf(ELSEWHERE)).toMatchObject({
    model: 'scripted',
    effort: null,
    serviceTier: null,
  });
});

test('a small window: the request fits into it, with what the user said last', async () => {
  const history = Array.from({ length: 100 }, (_, index) => ({
    item: asked(`${index} ${'word '.repeat(1_000)}`),
    author: 'user' as const,
  }));
  const { judge, model } = judgeWith(
    {},
    {
      ownWindow: () => ({ tokens: 8_192, isKnown: true, mayChange: false }),
      history: async () => history,
    },
  );
  expect(await judge.judge(PLANNED, turn())).toMatchObject({ status: 'approved' });
  const { instructions, input } = model.request(1);
  expect(instructions.length + JSON.stringify(input).length).toBeLessThan(3 * 8_192);
  expect(JSON.stringify(input)).toContain('99 word');
});

test('an action that is too long is denied before anything else is done with it', async () => {
  const history = vi.fn(async () => []);
  const { judge, model } = judgeWith({}, { history });
  const judged = await judge.judge({ ...PLANNED, command: ['x'.repeat(10_000_000)] }, turn());
  expect(judged).toMatchObject({
    status: 'denied',
    rationale: 'The automatic review failed. The action is too long to be reviewed.',
  });
  expect([history.mock.calls.length, model.requests.length]).toEqual([0, 0]);
  const small = judgeWith(
    {},
    { ownWindow: () => ({ tokens: 8_192, isKnown: true, mayChange: false }) },
  );
  const command = Array.from({ length: 5_000 }, (_, index) => `word${index}`);
  expect(await small.judge.judge({ ...PLANNED, command }, turn())).toMatchObject({
    rationale: 'The automatic review failed. The action is too long for the context window of m.',
  });
});

test('a model that refuses each request as too long gets no more than a few', async () => {
  const exceeded = [failed('too long', 'contextWindowExceeded')];
  const { judge, model } = judgeWith({}, { ownModel: () => model2 });
  const model2 = new TestModel(...Array.from({ length: 20 }, () => exceeded));
  expect(await judge.judge(PLANNED, turn())).toMatchObject({ status: 'denied', hasFailed: true });
  expect([model2.requests.length, model.requests.length]).toEqual([6, 0]);
});
