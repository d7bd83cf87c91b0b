import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Definitions, mapDefinitions, type Schema } from '../../schema/bundle.ts';
import schema from '../../schema/model-script.schema.json' with { type: 'json' };
import { checkShape } from '../../src/model/script/check-shape.ts';
import { readScript } from '../../src/model/script/read-script.ts';
import { ScriptError } from '../../src/model/script/script-error.ts';
import { type ModelScript, modelScriptSchema } from '../../src/protocol/generated/model-script.ts';
import { schemaArbitrary } from '../support/schema-arbitrary.ts';

function errorOf(script: string | ModelScript): ScriptError {
  try {
    readScript(script, 's.yaml');
  } catch (error) {
    if (error instanceof ScriptError) return error;
    throw error;
  }
  throw new Error('expected a ScriptError');
}

const STEPS = 'message, reasoning, call, plan, item, wait, hang, error, cut';
const RESPONSE = `a string, an array or an object with one of ${STEPS}, reply`;

function besideReply(key: string, tag: string): string {
  return `"${key}" belongs beside "reply", and the step inside "reply": { ${key}: …, reply: ${tag === '' ? '…' : `{ ${tag}: … }`} }`;
}

describe('a mistake is told with file, line, column and what was expected', () => {
  test.each([
    ['', `s.yaml:1:1: expected an array or an object with responses, found nothing`],
    ['Hello', `s.yaml:1:1: expected an array or an object with responses, found "Hello"`],
    ['[]', 's.yaml:1:1: expected a non-empty array'],
    [
      'respones:\n- a',
      's.yaml:1:1: unknown key "respones": expected one of responses, order, chunk, delay: did you mean responses?',
    ],
    [
      'responses: [a]\norder: strikt',
      's.yaml:2:8: order: expected one of any, strict, found "strikt": did you mean strict?',
    ],
    [
      'responses: [a]\nchunk: 0',
      's.yaml:2:8: chunk: expected a whole number from 1 to 1000000, found 0',
    ],
    [
      'responses: [a]\nchunk: words',
      's.yaml:2:8: chunk: expected a whole number from 1 to 1000000 or one of word, all, found "words": did you mean word?',
    ],
    [
      'responses: [a]\ndelay: 1.5',
      's.yaml:2:8: delay: expected a whole number from 0 to 86400000, found 1.5',
    ],
    ['- a\n- 42', `s.yaml:2:3: response 2: expected ${RESPONSE}, found 42 (a string needs quotes)`],
    ['- a\n-', `s.yaml:2:2: response 2: expected ${RESPONSE}, found nothing`],
    ['- true', `s.yaml:1:3: response 1: expected ${RESPONSE}, found true (a string needs quotes)`],
    [
      '- mesage: a',
      `s.yaml:1:3: response 1: unknown key "mesage": expected one of ${STEPS}, reply: did you mean message?`,
    ],
    [
      '- Note: a',
      `s.yaml:1:3: response 1: unknown key "Note": expected one of ${STEPS}, reply (a string with a colon needs quotes)`,
    ],
    ['- delay: 1', `s.yaml:1:3: response 1: expected one of ${STEPS}, reply beside "delay"`],
    ['- {}', `s.yaml:1:3: response 1: expected one of ${STEPS}, reply`],
    [
      '- tool_call: a',
      `s.yaml:1:3: response 1: unknown key "tool_call": expected one of ${STEPS}, reply`,
    ],
    [
      '- reply: a\n  match: hi',
      's.yaml:2:10: response 1, match: expected an object with one of user, prompt, output, tool, calls, model, tools, thread, turn, request, found "hi"',
    ],
    ['- match: { user: a }', 's.yaml:1:3: response 1: "match" needs "reply" beside it'],
    ['- usage: { input: 1, output: 1 }', 's.yaml:1:3: response 1: "usage" needs "reply" beside it'],
    [
      '- match: { user: a }\n  message: b',
      `s.yaml:1:3: response 1: ${besideReply('match', 'message')}`,
    ],
    ['- call: t\n  times: 2', `s.yaml:2:3: response 1: ${besideReply('times', 'call')}`],
    [
      '- [{ message: b, optional: true }]',
      `s.yaml:1:18: response 1, step 1: ${besideReply('optional', 'message')}`,
    ],
    [
      '- reply: { message: b, name: c }',
      `s.yaml:1:24: response 1, reply: ${besideReply('name', 'message')}`,
    ],
    ['- [{ match: { user: a } }]', `s.yaml:1:6: response 1, step 1: ${besideReply('match', '')}`],
    [
      '- message: a\n  call: b',
      's.yaml:2:3: response 1: "call" and "message" cannot be in one entry: make two entries',
    ],
    [
      '- message: a\n  reply: b',
      's.yaml:2:3: response 1: "reply" and "message" cannot be in one entry: make two entries',
    ],
    ['- reply: []', 's.yaml:1:10: response 1, reply: expected a non-empty array'],
    [
      '- reply: a\n  time: 2',
      's.yaml:2:3: response 1: unknown key "time": expected one of name, match, reply, times, optional, usage: did you mean times?',
    ],
    [
      '- [a, [b]]',
      `s.yaml:1:7: response 1, step 2: expected a string or an object with one of ${STEPS}, found an array`,
    ],
    [
      '-\n  - call: t\n    argument: {}',
      's.yaml:3:5: response 1, step 1: unknown key "argument": expected one of call, arguments, id: did you mean arguments?',
    ],
    [
      '- call: t\n  arguments: [1]',
      's.yaml:2:14: response 1, arguments: expected a string or an object, found an array',
    ],
    [
      '- call: t\n  input: a\n  arguments: {}',
      's.yaml:3:3: response 1: unknown key "arguments": expected one of call, input, id',
    ],
    ['- call: ""', 's.yaml:1:9: response 1, call: expected a non-empty string, found ""'],
    [
      '- plan: {a: done}',
      's.yaml:1:13: response 1, plan, a: expected one of pending, in_progress, completed, found "done"',
    ],
    [
      '- plan: {a: inprogres}',
      's.yaml:1:13: response 1, plan, a: expected one of pending, in_progress, completed, found "inprogres": did you mean in_progress?',
    ],
    ['- plan: {}', 's.yaml:1:9: response 1, plan: expected a non-empty object'],
    ['- hang: false', 's.yaml:1:9: response 1, hang: expected true, found false'],
    [
      '- hang: ture',
      's.yaml:1:9: response 1, hang: expected true, found "ture": did you mean true?',
    ],
    [
      '- reply: a\n  optional: flase',
      's.yaml:2:13: response 1, optional: expected true or false, found "flase": did you mean false?',
    ],
    [
      '- error: 200',
      's.yaml:1:10: response 1, error: expected a whole number from 300 to 599, found 200',
    ],
    [
      '- reply: a\n  times: some',
      's.yaml:2:10: response 1, times: expected a whole number from 1 to 1000000 or any, found "some"',
    ],
    ['- reply: a\n  match: {}', 's.yaml:2:10: response 1, match: expected a non-empty object'],
    [
      '- reply: a\n  match: { user: 5 }',
      's.yaml:2:18: response 1, match, user: expected a non-empty string or an object with is, found 5 (a string needs quotes)',
    ],
    [
      '- reply: a\n  match: { user: { is: a, si: b } }',
      's.yaml:2:27: response 1, match, user: unknown key "si": expected is',
    ],
    ['- reply: a\n  usage: { input: 1 }', 's.yaml:2:10: response 1, usage: "output" is missing'],
  ])('%j', (script, expected) => {
    expect(errorOf(script).message.split('\n')[0]).toBe(expected);
  });

  test.each([
    [
      '- reply: a\n  match: { user: /(/ }',
      's.yaml:2:18: response 1, match, user: not a valid regular expression: ',
    ],
    [
      '- reply: a\n  match: { model: /a/zz }',
      's.yaml:2:19: response 1, match, model: not a valid regular expression: ',
    ],
    [
      '- reply:\n  - hang: true\n  - never',
      's.yaml:3:5: response 1, reply, step 2: the step before this one ends the response, so nothing can follow it',
    ],
    [
      '- [{error: other}, never]',
      's.yaml:1:20: response 1, step 2: the step before this one ends the response',
    ],
    [
      '- item: {type: function_call, name: a}',
      's.yaml:1:9: response 1, item: an invalid "function_call" item: call_id is missing',
    ],
    [
      '- a: b: c',
      's.yaml:1:6: this is not valid YAML or JSON: Nested mappings are not allowed in compact mappings. A text with a colon and a space needs quotes',
    ],
    [
      '- reply: a\n  reply: b',
      's.yaml:2:3: this is not valid YAML or JSON: Map keys must be unique',
    ],
    ['[\n\t"a",\n\t{"mesage": "b"}\n]', 's.yaml:3:3: response 2: unknown key "mesage"'],
    ['- "a\n', 's.yaml:2:1: this is not valid YAML or JSON: '],
    ['a: &a [x]\nb: *a\n', 's.yaml:1:1: unknown key "a"'],
    ['- &x {wait: -1}\n- *x\n', 's.yaml:1:13: response 2, wait: expected'],
    [
      '- call: t\n  arguments: &x {a: *x}',
      's.yaml:2:17: response 1, arguments: this cannot be written as JSON: Converting circular structure',
    ],
    ['- &x [*x]\n', 's.yaml:'],
    ['- *nothing\n', 's.yaml:1:3: this is not valid YAML or JSON: '],
  ])('%j, and more', (script, expected) => {
    expect(errorOf(script).message).toContain(expected);
  });

  test('a value that is nearly a word of the schema gets that word, for each word and each place of it', () => {
    const places: [string, readonly string[]][] = [
      ['responses: [a]\norder: WORD', ['strict']],
      ['responses: [a]\nchunk: WORD', ['word']],
      ['- message: a\n  phase: WORD', ['commentary', 'partial_answer', 'final_answer']],
      ['- plan: { a: WORD }', ['pending', 'in_progress', 'completed']],
      ['- error: WORD', schema.definitions.ErrorStep.properties.error.anyOf[0]?.enum ?? []],
      ['- cut: WORD', ['true']],
      ['- error: other\n  retry: WORD', ['true', 'false']],
      ['- reply: a\n  usage: WORD', ['none']],
    ];
    const unlike = places.flatMap(([script, words]) =>
      words.flatMap((word) => {
        // Two letters in the wrong order, a letter too many, and words between underscores.
        const typos = [
          `${word.slice(0, -2)}${word.at(-1)}${word.at(-2)}`,
          `${word}x`,
          word.replace(/[A-Z]/g, (letter) => `_${letter}`),
        ];
        const wrong = typos.filter((typo) => !words.includes(typo));
        return wrong.filter(
          (typo) =>
            !errorOf(script.replace('WORD', typo)).message.endsWith(
              `, found "${typo}": did you mean ${word}?`,
            ),
        );
      }),
    );
    expect(unlike).toEqual([]);
    expect(places.flatMap(([, words]) => words).length).toBeGreaterThan(30);
  });

  test('all mistakes are told, up to ten', () => {
    const { message, problems } = errorOf('- {wait: -1}\n'.repeat(12));
    expect(problems.map(({ place }) => place)).toEqual(
      Array.from({ length: 12 }, (_, index) => ({ line: index + 1, column: 10 })),
    );
    expect(message.split('\n')).toHaveLength(11);
    expect(message).toMatch(/^s\.yaml:10:10: .*\nand 2 more$/m);
  });

  test('one mistake hides no other, and they are told in the order of the text', () => {
    const script = `
- mesage: a
  extra: b
  delay: -1
- match: { usr: a, user: 5 }
  replay: b
- message: a
  times: 2
  chunk: none
- reply: a
  match: { user: /(/ }
- call: t
  plan: { a: done }
`;
    expect(
      errorOf(script)
        .message.replace(/(expected|invalid) .*/gi, '')
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual([
      's.yaml:2:3: response 1: unknown key "mesage":',
      's.yaml:3:3: response 1: unknown key "extra":',
      's.yaml:4:10: response 1, delay:',
      's.yaml:5:12: response 2, match: unknown key "usr":',
      's.yaml:5:26: response 2, match, user:',
      's.yaml:6:3: response 2: unknown key "replay":',
      `s.yaml:8:3: response 3: ${besideReply('times', 'message')}`,
      's.yaml:9:10: response 3, chunk:',
      's.yaml:11:18: response 4, match, user: not a valid regular expression:',
      's.yaml:13:3: response 5: "plan" and "call" cannot be in one entry: make two entries',
      'and 1 more',
    ]);
  });

  test('of a script given as data, without lines', () => {
    expect(errorOf([{ wait: -1 }]).message).toBe(
      's.yaml: response 1, wait: expected a whole number from 0 to 86400000, found -1',
    );
  });

  test('text that makes itself huge is refused', () => {
    const lines = ['- &a [x, x, x, x, x, x, x, x, x]'];
    for (let index = 1; index < 9; index++)
      lines.push(`- &${'abcdefghi'[index]} [${Array(9).fill(`*${'abcdefghi'[index - 1]}`)}]`);
    expect(errorOf(lines.join('\n')).message).toContain('Excessive alias count');
  });
});

test('JSON is read as YAML is', () => {
  const script: ModelScript = {
    responses: [
      'a',
      [{ call: 't', arguments: { x: [1, null] } }],
      { reply: 'b', match: { user: '/x/' } },
    ],
  };
  const fromText = readScript(JSON.stringify(script, null, '\t'), 's.json');
  const labels = fromText.responses.map(({ label }) => label.replace(/ \(line \d+\)/, ''));
  expect(labels).toEqual(readScript(script, 's.json').responses.map(({ label }) => label));
  expect(fromText.responses.map(({ steps }) => steps)).toEqual(
    readScript(script, 's.json').responses.map(({ steps }) => steps),
  );
});

describe('the schema', () => {
  const valid = new Ajv({ strict: false }).compile(schema);
  const agree = (value: unknown) => {
    expect([value, checkShape(value, modelScriptSchema).length === 0]).toEqual([
      value,
      valid(value),
    ]);
  };

  test('its examples are valid, and become responses', () => {
    const examples = schema.definitions.Response.examples as ModelScript & unknown[];
    expect(valid(examples)).toBe(true);
    expect(readScript(examples, 's').responses).toHaveLength(examples.length);
    for (const example of schema.examples) expect(valid(example)).toBe(true);
  });

  test('what is refused at run time is what a validator of the schema refuses', () => {
    const near = schemaArbitrary({ $ref: '#/definitions/Responses' }, withSmallNumbers);
    fc.assert(fc.property(near, agree), { numRuns: 2000 });
    fc.assert(fc.property(anyScript, agree), { numRuns: 2000 });
    fc.assert(fc.property(fc.jsonValue(), agree));
  });
});

/** The schema for values that mostly are valid: numbers of any size seldom are. */
const withSmallNumbers: Schema = {
  definitions: mapDefinitions(schema.definitions as Definitions, smallNumber),
};

function smallNumber(part: Schema): Schema {
  return part.type === 'integer' ? { enum: [part.minimum ?? 0, 1, 300, 400] } : part;
}

/** Values near to scripts: the keys of the schema with values of all sorts. */
const scalar = fc.constantFrom<unknown>(
  ...[
    'a',
    '',
    'any',
    'word',
    'strict',
    'none',
    'other',
    'pending',
    0,
    1,
    -1,
    429,
    1.5,
    1e9,
    true,
    false,
    null,
  ],
);
const keys = [
  ...new Set(
    Object.values(schema.definitions).flatMap((part) =>
      Object.keys('properties' in part ? part.properties : {}),
    ),
  ),
];
const values = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  object: fc.dictionary(
    fc.constantFrom(...keys, 'is', 'summary', 'raw', 'input', 'output', 'other'),
    tie('value'),
    { maxKeys: 3 },
  ),
  value: fc.oneof({ maxDepth: 4 }, scalar, fc.array(tie('value'), { maxLength: 3 }), tie('object')),
}));
const step = fc.oneof(
  scalar,
  values.object,
  ...['message', 'reasoning', 'call', 'plan', 'item', 'wait', 'hang', 'error', 'cut', 'reply'].map(
    (tag) =>
      fc
        .tuple(values.value, values.object)
        .map(([value, others]) => ({ ...(others as object), [tag]: value })),
  ),
  fc.record(
    { message: fc.string(), chunk: values.value, delay: scalar },
    { requiredKeys: ['message'] },
  ),
  fc.record(
    { call: fc.string(), arguments: values.value, input: scalar, id: scalar },
    { requiredKeys: ['call'] },
  ),
  fc.record({ error: scalar, text: scalar, retry: scalar }, { requiredKeys: ['error'] }),
  fc.record(
    {
      reply: values.value,
      match: values.object,
      times: scalar,
      usage: values.value,
      optional: scalar,
    },
    { requiredKeys: ['reply'] },
  ),
);
const anyScript = fc.oneof(
  fc.array(fc.oneof(step, fc.array(step, { maxLength: 2 })), { maxLength: 2 }),
  fc.record(
    { responses: fc.array(step, { maxLength: 2 }), order: scalar, chunk: scalar, delay: scalar },
    { requiredKeys: [] },
  ),
);
