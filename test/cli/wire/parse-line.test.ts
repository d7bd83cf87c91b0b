import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerShape } from '../../../src/cli/wire/answer-shape.ts';
import { parseLine, readAnswer } from '../../../src/cli/wire/parse-line.ts';
import { text } from '../../support/test-client.ts';
import { FIELDS } from './wire-fields.ts';

const APPROVAL = answerShape(
  'item/commandExecution/requestApproval',
  { availableDecisions: ['accept', 'decline'] },
  FIELDS,
);
/** The line, with the answer in place of its text. */
function parsed(line: string): object {
  const read = parseLine(line, FIELDS);
  if (read.kind !== 'answer') return read;
  const { text, ...answer } = read;
  return { ...answer, result: readAnswer(text, APPROVAL, FIELDS) };
}

const problemOf = (line: string): string => {
  try {
    return `no problem: ${JSON.stringify(parsed(line))}`;
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
};
const sent = (method: string, params: unknown) => ({ kind: 'send', method, params, now: false });
describe('a request', () => {
  test.each<[string, string, unknown]>([
    ['thread/start', 'thread/start', {}],
    ['  thread/start  ', 'thread/start', {}],
    ['thread/loaded/list limit=3', 'thread/loaded/list', { limit: 3 }],
    ['thread/start cwd=/tmp ephemeral=true', 'thread/start', { cwd: '/tmp', ephemeral: true }],
    // A field of text takes the text.
    ['thread/start cwd=42 model=true', 'thread/start', { cwd: '42', model: 'true' }],
    ['thread/start model=null', 'thread/start', { model: null }],
    [
      'thread/start config.model_reasoning_effort=low',
      'thread/start',
      { config: { model_reasoning_effort: 'low' } },
    ],
    ['thread/start x=1 y=1e3 z=-0.5 w=01', 'thread/start', { x: 1, y: 1000, z: -0.5, w: '01' }],
    [
      'turn/start input="say \\"hi\\"\\n"',
      'turn/start',
      { threadId: '@thread', input: text('say "hi"\n') },
    ],
    [
      'turn/start input=\'call x {"a": "\\n"}\'',
      'turn/start',
      { threadId: '@thread', input: text('call x {"a": "\\n"}') },
    ],
    ['turn/start input=hello threadId=t1', 'turn/start', { threadId: 't1', input: text('hello') }],
    ['turn/start input=[]', 'turn/start', { threadId: '@thread', input: [] }],
    ['turn/interrupt', 'turn/interrupt', { threadId: '@thread', turnId: '@turn' }],
    [
      'turn/steer input=go',
      'turn/steer',
      { threadId: '@thread', expectedTurnId: '@turn', input: text('go') },
    ],
    [
      'turn/start sandboxPolicy.type=readOnly sandboxPolicy.networkAccess=true input=x',
      'turn/start',
      {
        threadId: '@thread',
        sandboxPolicy: { type: 'readOnly', networkAccess: true },
        input: text('x'),
      },
    ],
    // JSON is sent as it stands.
    ['turn/start {"input": "x"}', 'turn/start', { input: 'x' }],
    ['turn/start {}', 'turn/start', {}],
    ['turn/start [1]', 'turn/start', [1]],
    ['no/such a={"b": [1, "}"]}', 'no/such', { a: { b: [1, '}'] } }],
    ['initialized', 'initialized', undefined],
    [
      '{"id": 7, "method": "thread/read", "params": {"threadId": "@thread2"}}',
      'thread/read',
      { threadId: '@thread2' },
    ],
    ['{"method": "initialized"}', 'initialized', undefined],
  ])('%s', (line, method, params) => {
    expect(parsed(line)).toEqual(sent(method, params));
  });

  test('can name a field as no other object may', () => {
    const line = parseLine('no/such __proto__.a=1 constructor=2', FIELDS);
    expect(line.kind === 'send' && JSON.stringify(line.params)).toBe(
      '{"__proto__":{"a":1},"constructor":2}',
    );
    expect(({} as { a?: number }).a).toBeUndefined();
  });

  test('is sent at once after now, and in JSON', () => {
    expect(parsed('now turn/interrupt')).toEqual({
      ...sent('turn/interrupt', { threadId: '@thread', turnId: '@turn' }),
      now: true,
    });
    expect(parsed('{"method":"turn/interrupt","params":{},"now":true}')).toEqual({
      ...sent('turn/interrupt', {}),
      now: true,
    });
  });
});

test.each<[string, object]>([
  ['', { kind: 'nothing' }],
  ['  # a comment', { kind: 'nothing' }],
  ['answer accept', { kind: 'answer', id: null, result: { decision: 'accept' } }],
  ['answer 3 decline', { kind: 'answer', id: 3, result: { decision: 'decline' } }],
  ['answer decision=accept', { kind: 'answer', id: null, result: { decision: 'accept' } }],
  ['answer decision={"a":1}', { kind: 'answer', id: null, result: { decision: { a: 1 } } }],
  ['answer {"decision": "cancel"}', { kind: 'answer', id: null, result: { decision: 'cancel' } }],
  ['answer', { kind: 'answer', id: null, result: {} }],
  [
    '{"id": 5, "result": {"decision": "accept"}}',
    { kind: 'answer', id: 5, result: { decision: 'accept' } },
  ],
  ['{"error": {"code": -1, "message": "no"}}', { kind: 'refuse', id: null, message: 'no' }],
  ['refuse', { kind: 'refuse', id: null, message: 'the user refuses' }],
  ['refuse 2 not now', { kind: 'refuse', id: 2, message: 'not now' }],
  ['wait', { kind: 'wait', method: 'turn/completed' }],
  ['wait fs/changed', { kind: 'wait', method: 'fs/changed' }],
  ['{"wait": "fs/changed"}', { kind: 'wait', method: 'fs/changed' }],
  ['help', { kind: 'help', method: null }],
  ['help turn/start', { kind: 'help', method: 'turn/start' }],
  ['show', { kind: 'show', method: null }],
  ['show item/started', { kind: 'show', method: 'item/started' }],
  ['exit', { kind: 'exit' }],
  ['quit', { kind: 'exit' }],
])('%j means %j', (line, expected) => {
  expect(parsed(line)).toEqual(expected);
});

test.each([
  ['{"method": }', 'it is not JSON: expected a value, at character 12'],
  ['turn/start {"a" 1}', 'params: it is not JSON: expected a colon, at character 6'],
  ['answer {"a" 1}', 'answer: it is not JSON: expected a colon, at character 6'],
  ['turn/start input={"a"', 'input: the value has no end'],
  ['turn/start input="a', 'input: the value has no end'],
  ["turn/start input='a", 'input: the value has no end'],
  ['turn/start input="a"b', 'input: expected a blank after the value, found b'],
  ['turn/start hello', 'expected NAME=VALUE, found hello'],
  ['turn/start =x', 'expected NAME=VALUE, found =x'],
  ['turn/start a..b=x', 'a..b: a part of the name is empty'],
  ['thread/start a=1 a=2', 'a: it is set twice'],
  ['thread/start a=1 a.b=2', 'a.b: it is set twice'],
  ['thread/start a.b=1 a=2', 'a: it is set twice'],
  ['answer maybe', 'answer: expected accept, decline or NAME=VALUE'],
  ['now wait', 'now: expected a request after it'],
  ['{"id": 1}', 'expected a message with "method", "result" or "error"'],
  ['\u001b[2J', 'expected a method or a command, found \\x1b[2J: help lists them'],
])('%j is refused: %s', (line, problem) => {
  expect(problemOf(line)).toBe(problem);
});

test('any line has a meaning or a problem, and any text can be written in quotes', {
  tags: 'seeded',
}, () => {
  const word = fc.constantFrom(
    'turn/start',
    'answer',
    'now',
    'refuse',
    'a=',
    'a.b=',
    '{',
    '}',
    '"',
    "'",
    '[',
    ']',
    '\\',
    ' ',
    '=',
    '.',
    '1',
    '@',
  );
  fc.assert(
    fc.property(
      fc.array(fc.oneof(word, fc.string({ maxLength: 3 })), { maxLength: 12 }),
      (words) => {
        const problem = problemOf(words.join(''));
        expect(problem).not.toBe('');
      },
    ),
  );
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (value) => {
      expect(parsed(`turn/start threadId=t input=${JSON.stringify(value)}`)).toEqual(
        sent('turn/start', { threadId: 't', input: text(value) }),
      );
    }),
  );
});
