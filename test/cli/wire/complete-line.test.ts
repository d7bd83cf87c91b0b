import { describe, expect, test } from 'vitest';
import { answerShape } from '../../../src/cli/wire/answer-shape.ts';
import { completeLine } from '../../../src/cli/wire/complete-line.ts';
import { parseLine } from '../../../src/cli/wire/parse-line.ts';
import type { Shape } from '../../../src/cli/wire/protocol-fields.ts';
import { FIELDS } from './wire-fields.ts';

const NONE: Shape = [];

function complete(line: string, open: Shape = NONE) {
  return completeLine(line, { fields: FIELDS, answerShape: () => open });
}

/** The whole lines that Tab offers. */
function offers(line: string, open: Shape = NONE): string[] {
  const [completions, replaced] = complete(line, open);
  expect(line.endsWith(replaced)).toBe(true);
  return completions.map((completion) => line.slice(0, line.length - replaced.length) + completion);
}

test.each<[string, string[]]>([
  ['turn/st', ['turn/start ', 'turn/steer ']],
  ['  model/l', ['  model/list ']],
  ['now turn/int', ['now turn/interrupt ']],
  [
    'help thread/goal/',
    ['help thread/goal/clear ', 'help thread/goal/get ', 'help thread/goal/set '],
  ],
  ['wait turn/comp', ['wait turn/completed']],
  ['show thread/sta', ['show thread/started', 'show thread/status/changed']],
  ['no', ['now']],
  ['zzz', []],
  ['turn/start approvalP', ['turn/start approvalPolicy=']],
  ['turn/start approvalPolicy=on-r', ['turn/start approvalPolicy=on-request ']],
  ['turn/start approvalPolicy="on-r', ['turn/start approvalPolicy="on-request" ']],
  [
    'turn/start approvalPolicy=never sandboxPolicy.t',
    ['turn/start approvalPolicy=never sandboxPolicy.type='],
  ],
  ['turn/start sandboxPolicy.type=readO', ['turn/start sandboxPolicy.type=readOnly ']],
  ['turn/start sandboxPolicy.networkAccess=t', ['turn/start sandboxPolicy.networkAccess=true ']],
  ['turn/start thr', ['turn/start threadId=']],
  ['turn/start threadId=', ['turn/start threadId=@thread ']],
  ['turn/interrupt turnId=', ['turn/interrupt turnId=@turn ']],
  ['turn/interrupt threadId=x ', ['turn/interrupt threadId=x turnId=']],
  ['turn/start input="a b" thr', ['turn/start input="a b" threadId=']],
  ['turn/start input=[{"ty', ['turn/start input=[{"type":']],
  ['turn/start {"approvalP', ['turn/start {"approvalPolicy":']],
  ['turn/start {"approvalPolicy":"on-r', ['turn/start {"approvalPolicy":"on-request"']],
  ['turn/start {"threadId":', ['turn/start {"threadId":"@thread"']],
  [
    'turn/start {"threadId": "x", "input": [{"type": "localI',
    ['turn/start {"threadId": "x", "input": [{"type": "localImage"'],
  ],
  ['turn/start {"threadId": "x", "threadI', []],
  ['turn/start {"threadId": "x"', []],
  ['turn/start {"input": [', ['turn/start {"input": [{']],
  ['turn/start {nonsense]', []],
  ['turn/start input=hello', []],
  ['thread/start config.', []],
  ['no/such fie', []],
])('%s', (line, expected) => {
  expect(offers(line)).toEqual(expected);
});

test('offers the beginnings of the methods if there are many, and then the methods', () => {
  const first = offers('');
  expect(first).toEqual(
    expect.arrayContaining(['thread/', 'turn/', 'initialize', 'answer', 'help']),
  );
  expect(first.length).toBeLessThan(60);
  expect(offers('thread/')).toEqual(expect.arrayContaining(['thread/start', 'thread/goal/']));
});

test('offers every field that the protocol has for a method, and nothing that the server ignores', () => {
  for (const method of FIELDS.methods) {
    for (const offered of offers(`${method} `)) {
      const line = parseLine(offered.endsWith('.') ? `${offered}x=1` : `${offered}1`, FIELDS);
      expect(line, offered).toMatchObject({ kind: 'send', method });
    }
  }
  expect(offers('thread/start ').length).toBeGreaterThan(10);
});

describe('an answer', () => {
  const request = {
    availableDecisions: [
      'accept',
      { acceptWithExecpolicyAmendment: { execpolicy_amendment: ['a', 'b c'] } },
      'cancel',
    ],
  };
  const approval = answerShape('item/commandExecution/requestApproval', request, FIELDS);
  const amendment = '{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["a","b c"]}}';

  test('is offered when the server asks, as the request offers it', () => {
    expect(offers('', approval)).toEqual(['answer ']);
    expect(offers('answer ', approval)).toEqual([
      'answer accept ',
      'answer cancel ',
      'answer decision=',
    ]);
    expect(offers('answer 4 a', approval)).toEqual(['answer 4 accept ']);
    expect(offers('answer decision=', approval)).toEqual([
      'answer decision=accept ',
      `answer decision=${amendment} `,
      'answer decision=cancel ',
    ]);
    expect(offers('answer {"decision":"c', approval)).toEqual(['answer {"decision":"cancel"']);
  });

  test('of a question has its questions and options', () => {
    const questions = [{ id: 'one', options: [{ label: 'A' }, { label: 'B c' }] }];
    const shape = answerShape('item/tool/requestUserInput', { questions }, FIELDS);
    expect(offers('answer answers.', shape)).toEqual(['answer answers.one.']);
    expect(offers('answer answers.one.answers=["B', shape)).toEqual([
      'answer answers.one.answers=["B c"',
    ]);
  });

  test('of a form has its fields, and nothing that acts on the terminal', () => {
    const properties = {
      color: { type: 'string', enum: ['red', '\u001b[2J'] },
      sure: { type: 'boolean' },
      '\u001b[31m': { type: 'string' },
    };
    const shape = answerShape(
      'mcpServer/elicitation/request',
      { requestedSchema: { type: 'object', properties } },
      FIELDS,
    );
    expect(offers('answer ', shape)).toEqual([
      'answer accept ',
      'answer decline ',
      'answer cancel ',
      'answer action=',
      'answer content.',
    ]);
    expect(offers('answer accept content.', shape)).toEqual([
      'answer accept content.color=',
      'answer accept content.sure=',
    ]);
    expect(offers('answer accept content.color=', shape)).toEqual([
      'answer accept content.color=red ',
      'answer accept content.color="\\u001b[2J" ',
    ]);
    expect(offers('answer accept content.sure=', shape)).toEqual([
      'answer accept content.sure=true ',
      'answer accept content.sure=false ',
    ]);
  });

  test.each([
    {},
    null,
    { requestedSchema: { properties: 5 } },
    { requestedSchema: { properties: { a: 5, b: { oneOf: 5 } } } },
  ])('of a form that is none (%j) is only the action', (params) => {
    const shape = answerShape('mcpServer/elicitation/request', params, FIELDS);
    expect(offers('answer a', shape)).toContain('answer accept ');
  });
});
