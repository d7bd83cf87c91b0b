import { describe, expect, test } from 'vitest';
import { EVENTS, type TurnEffects, type TurnEvents } from '../../src/agent/turn/turn-events.ts';
import type { EventHandlers, TurnContext } from '../../src/agent/turn/turn-part.ts';
import { TurnParts } from '../../src/agent/turn/turn-parts.ts';
import { contextMessage } from '../../src/instructions/messages/context-message.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { RecordingLog } from '../support/recording-log.ts';

type Name = keyof TurnEvents;

const [ONE, TWO] = ['one', 'two'].map((word) => contextMessage('user', [word]));
const [one, two] = [[ONE], [TWO]] as [NonNullable<Telling>, NonNullable<Telling>];
type Telling = TurnEffects['called']['tell'];
const call = { callId: 'c', tool: 't', namespace: null, args: { a: 1 } };
const outcome = { output: 'done', success: true };
const denied = { verdict: { deny: { by: 'part', reason: 'no' } } } as const;

/** For each event: its facts, the effects of two parts, and what they and a throw come to. */
const CASES: {
  [Event in Name]: {
    event: unknown;
    parts: [TurnEffects[Event], TurnEffects[Event]];
    merged: TurnEffects[Event];
    thrown: TurnEffects[Event];
    interrupted: 'ends' | 'goes on';
  };
} = {
  inputNext: {
    event: {},
    parts: [{ tell: one, end: true }, { tell: two }],
    merged: { tell: [...one, ...two], end: true },
    thrown: {},
    interrupted: 'goes on',
  },
  input: {
    event: { input: {} },
    parts: [{ tell: one, refuse: true }, { tell: two }],
    merged: { tell: one, refuse: true },
    thrown: { refuse: true },
    interrupted: 'ends',
  },
  call: {
    event: { call },
    parts: [
      { args: { a: 2 }, ask: 'why', tell: one },
      { args: { a: 3 }, ask: 'later', tell: two },
    ],
    merged: { args: { a: 3 }, ask: 'why', tell: [...one, ...two] },
    thrown: { refuse: 'Refused: a check of this call failed inside the server.' },
    interrupted: 'ends',
  },
  called: {
    event: { call, outcome },
    parts: [
      { output: 'first', tell: one },
      { output: 'last', tell: two },
    ],
    merged: { output: 'last', tell: [...one, ...two] },
    thrown: {},
    interrupted: 'goes on',
  },
  approval: {
    event: { ask: {}, call: null, demand: null },
    parts: [denied, { verdict: { allow: { kind: 'none' }, scope: 'once' } as never }],
    merged: denied,
    thrown: {},
    interrupted: 'goes on',
  },
  compacting: {
    event: { trigger: 'auto' },
    parts: [{ stop: true }, {}],
    merged: { stop: true },
    thrown: {},
    interrupted: 'goes on',
  },
  compacted: {
    event: { trigger: 'manual' },
    parts: [{ stop: true }, {}],
    merged: { stop: true },
    thrown: {},
    interrupted: 'goes on',
  },
};
const NAMES = Object.keys(CASES) as Name[];

/** Emits an event to parts with these handlers. */
function emitted(
  name: Name,
  handlers: readonly (() => unknown)[],
  signal = new AbortController().signal,
) {
  const log = new RecordingLog();
  const parts = handlers.map((handler) => ({ on: { [name]: handler } as EventHandlers }));
  const turn = { id: 'u', signal } as TurnContext;
  const effects = new TurnParts(parts, { threadId: 't', log }).emit(
    name,
    CASES[name].event as never,
    turn,
  );
  return { effects, log };
}

test('each event has a row in the table of this test', () => {
  expect(NAMES.sort()).toEqual(Object.keys(EVENTS).sort());
});

describe.each(NAMES)('the event %s', (name) => {
  const { parts, merged, thrown, interrupted } = CASES[name];

  test('merges the effects of two parts', async () => {
    const { effects } = emitted(
      name,
      parts.map((each) => async () => each),
    );
    expect(await effects).toEqual(merged);
  });

  test('takes a part that throws as its row says, and logs the error', async () => {
    const { effects, log } = emitted(name, [() => Promise.reject(new Error('broken'))]);
    expect(await effects).toEqual(thrown);
    expect(log.takeFailedMoments()).toEqual([name]);
  });

  test('passes the error of the store on', async () => {
    const { effects } = emitted(name, [
      () => Promise.reject(new StoreError('store_failed', 'no disk')),
    ]);
    await expect(effects).rejects.toThrow('no disk');
  });

  test(`an interrupt ${interrupted === 'ends' ? 'ends it' : 'asks the next part'}`, async () => {
    const aborting = new AbortController();
    const hanging = () => {
      setImmediate(() => aborting.abort());
      return new Promise(() => {});
    };
    const { effects } = emitted(name, [hanging, () => parts[0]], aborting.signal);
    const expected = { ...parts[0] };
    expect(await effects).toEqual(interrupted === 'ends' ? null : expected);
  });
});

test.each<[string, Name, (() => unknown)[], unknown]>([
  [
    'a refusal keeps what the parts before it tell',
    'call',
    [() => ({ args: { a: 2 }, tell: one }), () => ({ refuse: 'no', tell: two })],
    { refuse: 'no', tell: [...one, ...two] },
  ],
  [
    'input that a part lets in can end the turn by the next one',
    'input',
    [() => ({ tell: one }), () => ({ refuse: true, end: true, tell: two })],
    { refuse: true, end: true, tell: [...one, ...two] },
  ],
  [
    'a stop of a later part counts',
    'compacting',
    [() => ({}), () => ({ stop: true })],
    { stop: true },
  ],
  [
    'a later part answers',
    'approval',
    [() => Promise.reject(new Error('broken')), () => denied],
    denied,
  ],
  [
    'a part after one that throws is asked',
    'called',
    [() => Promise.reject(new Error('broken')), () => ({ output: 'x' })],
    { output: 'x' },
  ],
])('%s', async (_, name, handlers, expected) => {
  expect(await emitted(name, handlers).effects).toEqual(expected);
});

test('the wait for an approval ends with its question', async () => {
  const asking = new AbortController();
  const hanging = () => {
    setImmediate(() => asking.abort());
    return new Promise<never>(() => {});
  };
  const turn = { id: 'u', signal: new AbortController().signal } as TurnContext;
  const parts = new TurnParts([{ on: { approval: hanging } }, { on: { approval: () => denied } }], {
    threadId: 't',
    log: new RecordingLog(),
  });
  const { event } = CASES.approval;
  expect(await parts.emit('approval', event as never, turn, asking.signal)).toEqual(denied);
});

test('a part that cannot say what it wants is asked about input, and not about calls', () => {
  const log = new RecordingLog();
  const wants = () => {
    throw new Error('broken');
  };
  const parts = new TurnParts([{ wants }], { threadId: 't', log });
  expect([parts.wants('input', null), parts.wants('called', call)]).toEqual([true, false]);
  expect(log.takeFailedMoments()).toEqual(['wants', 'wants']);
});

test('the next part sees a call as the parts before it have changed it', async () => {
  const seen: unknown[] = [];
  const see = (event: unknown) => {
    seen.push(event);
    return {};
  };
  const turn = { id: 'u', signal: new AbortController().signal } as TurnContext;
  const parts = new TurnParts(
    [
      { on: { call: () => ({ args: { a: 2 } }), called: () => ({ output: 'changed' }) } },
      { on: { call: see, called: see } },
    ],
    { threadId: 't', log: new RecordingLog() },
  );
  await parts.emit('call', { call }, turn);
  await parts.emit('called', { call, outcome }, turn);
  expect(seen).toEqual([
    { call: { ...call, args: { a: 2 } } },
    { call, outcome: { output: 'changed', success: true } },
  ]);
});
