import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PromptItems } from '../../src/agent/prompt/prompt-items.ts';
import type { ResponseItem } from '../../src/protocol/generated/types.ts';
import { asked, calls, said } from '../support/test-model.ts';

function promptItems(history: readonly ResponseItem[]): ResponseItem[] {
  const prompt = new PromptItems();
  for (const item of history) prompt.add(item);
  return prompt.list();
}

test('a history of very many items can be copied', () => {
  const prompt = new PromptItems();
  for (let count = 0; count < 200_000; count++) prompt.add(asked('x'));
  expect(prompt.copy().list().length).toBe(200_000);
});

const callIds = fc.constantFrom('a', 'b', 'c', 'd');

const items: fc.Arbitrary<ResponseItem> = fc.oneof(
  fc.constant(asked('x')),
  fc.constant(said('y')),
  fc.constant<ResponseItem>({ type: 'reasoning', id: 'r', summary: [] }),
  callIds.map((callId): ResponseItem => ({ ...calls('f', {}, { callId }), id: 'i' })),
  callIds.map(
    (call_id): ResponseItem => ({ type: 'custom_tool_call', call_id, name: 'g', input: '' }),
  ),
  fc.option(callIds).map(
    (call_id): ResponseItem => ({
      type: 'local_shell_call',
      call_id,
      status: 'completed',
      action: { type: 'exec', command: [] },
    }),
  ),
  fc.option(callIds).map(
    (call_id): ResponseItem => ({
      type: 'function_call_output',
      call_id,
      output: { body: 'out', success: true },
    }),
  ),
  callIds.map(
    (call_id): ResponseItem => ({ type: 'custom_tool_call_output', call_id, output: 'out' }),
  ),
  fc.constant<ResponseItem>({ type: 'other' }),
  fc.constant<ResponseItem>({ type: 'compaction_trigger' }),
);

function isCall(item: ResponseItem | undefined): boolean {
  return (
    item?.type === 'function_call' ||
    item?.type === 'custom_tool_call' ||
    (item?.type === 'local_shell_call' && Boolean(item.call_id))
  );
}

function isOutput(item: ResponseItem | undefined): boolean {
  return item?.type === 'function_call_output' || item?.type === 'custom_tool_call_output';
}

function callId(item: ResponseItem | undefined): unknown {
  return item !== undefined && 'call_id' in item ? item.call_id : undefined;
}

const OUTPUT_OF: Partial<Record<ResponseItem['type'], ResponseItem['type']>> = {
  function_call: 'function_call_output',
  local_shell_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
};

test('for any history, a response is followed by the outputs of its calls in their order, and every output has a call', () => {
  fc.assert(
    fc.property(fc.array(items, { maxLength: 20 }), (history) => {
      const open: ResponseItem[] = [];
      let isAnswering = false;
      for (const item of promptItems(history)) {
        if (isOutput(item)) {
          const call = open.shift();
          expect([item.type, callId(item)]).toEqual([call && OUTPUT_OF[call.type], callId(call)]);
          isAnswering = open.length > 0;
          continue;
        }
        expect(isAnswering).toBe(false);
        if (isCall(item)) open.push(item);
        else if (item.type === 'message' && item.role === 'user') expect(open).toEqual([]);
      }
      expect(open).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

const call = (callId: string) => calls('f', {}, { callId });
const output = (call_id: string): ResponseItem => ({
  type: 'function_call_output',
  call_id,
  output: call_id,
});

test('what the model says between and after its calls stays before their outputs', () => {
  const thought: ResponseItem = { type: 'reasoning', summary: [] };
  const history = [
    asked('one'),
    call('a'),
    said('on it'),
    thought,
    call('b'),
    said('wait'),
    output('b'),
    output('a'),
  ];
  expect(promptItems(history)).toEqual([...history.slice(0, 6), output('a'), output('b')]);
});

test('calls of one response stay together, calls of successive responses do not', () => {
  const history = [
    asked('one'),
    call('a'),
    call('b'),
    output('b'),
    output('a'),
    call('c'),
    output('c'),
  ];
  expect(promptItems(history)).toEqual([
    asked('one'),
    call('a'),
    call('b'),
    output('a'),
    output('b'),
    call('c'),
    output('c'),
  ]);
});

test('for any history, no item has an id or is for servers only, and no reasoning stands without a following item', () => {
  fc.assert(
    fc.property(fc.array(items, { maxLength: 20 }), (history) => {
      const prompt = promptItems(history);
      expect(
        prompt.filter(
          (item) => 'id' in item || item.type === 'other' || item.type === 'compaction_trigger',
        ),
      ).toEqual([]);
      for (const [index, item] of prompt.entries()) {
        if (item.type !== 'reasoning') continue;
        const next = prompt.slice(index + 1).find(({ type }) => type !== 'reasoning');
        expect(next === undefined || (next.type === 'message' && next.role === 'user')).toBe(false);
      }
      expect(promptItems(prompt)).toEqual(prompt);
    }),
    { numRuns: 500 },
  );
});

test('an output with a reused call id belongs to the later call, and each call keeps its own output', () => {
  const exchange = (output: string): ResponseItem[] => [
    calls('f', { for: output }),
    { type: 'function_call_output', call_id: 'call_1', output },
  ];
  const history = [asked('one'), ...exchange('first'), asked('two'), ...exchange('second')];
  expect(promptItems(history)).toEqual(history);
});

test('calls with one id that were made together get their own outputs, in order', () => {
  const call = (name: string) => calls(name, {});
  const output = (text: string): ResponseItem => ({
    type: 'function_call_output',
    call_id: 'call_1',
    output: text,
  });
  expect(
    promptItems([asked('one'), call('a'), call('b'), output('of a'), output('of b'), said('done')]),
  ).toEqual([asked('one'), call('a'), output('of a'), call('b'), output('of b'), said('done')]);
});

test('the prompt of a longer history begins with the prompt at the end of any earlier turn', () => {
  const turn = fc.constantFrom<ResponseItem[]>(
    [asked('one'), said('first')],
    [asked('two'), { type: 'reasoning', summary: [] }, said('second')],
    [
      asked('three'),
      calls('f', {}, { callId: 'x' }),
      { type: 'function_call_output', call_id: 'x', output: 'out' },
      said('third'),
    ],
  );
  fc.assert(
    fc.property(
      fc.array(turn, { maxLength: 5 }),
      fc.array(turn, { maxLength: 5 }),
      (before, after) => {
        const shorter = promptItems(before.flat());
        expect(promptItems([...before, ...after].flat()).slice(0, shorter.length)).toEqual(shorter);
      },
    ),
    { numRuns: 100 },
  );
});
