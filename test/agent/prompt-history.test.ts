import { expect, test } from 'vitest';
import type { Outbox } from '../../src/agent/outbox/outbox.ts';
import { PromptBudget } from '../../src/agent/prompt/prompt-budget.ts';
import { PromptHistory } from '../../src/agent/prompt/prompt-history.ts';
import type { LogEntry, ModelEntry } from '../../src/store/log-entry.ts';
import { asked, calls, said } from '../support/test-model.ts';

const PROMPT_BYTES_MAX = 100_000;

/** A history with these entries, which are read in parts of two. */
function historyOf(entries: LogEntry[]): PromptHistory {
  const read = async (cursor: string | null) => {
    const from = Number(cursor ?? 0);
    const part = entries.slice(from, from + 2) as ModelEntry[];
    return { entries: part, cursor: String(from + part.length), more: from + 2 < entries.length };
  };
  const outbox = { between: async (work: () => unknown) => work() } as unknown as Outbox;
  return new PromptHistory({ read, outbox, budget: new PromptBudget(4 * PROMPT_BYTES_MAX) });
}

const image = (bytes: number) => ({
  ...asked('look'),
  content: [
    { type: 'input_image' as const, image_url: `data:image/png;base64,${'A'.repeat(bytes)}` },
  ],
});
const output = (id: number, chars: number) => ({
  type: 'function_call_output' as const,
  call_id: `call_${id}`,
  output: 'x'.repeat(chars),
});

test('a history that fits is the prompt as it is', async () => {
  const items = [image(60_000), said('seen')];
  const history = historyOf(items.map((item) => ({ kind: 'model', turnId: 't1', item })));
  expect(await history.prompt()).toMatchObject({ items, isShrunk: false });
});

test('a history that is too large loses images and huge outputs, except in the last input', async () => {
  const history = historyOf([
    { kind: 'model', turnId: 't1', item: image(90_000) },
    { kind: 'model', turnId: 't1', item: calls('exec_command', {}, { callId: 'call_1' }) },
    { kind: 'model', turnId: 't1', item: output(1, 30_000) },
    { kind: 'model', turnId: 't2', item: image(40_000) },
  ]);
  const prompt = await history.prompt();
  expect(prompt).toMatchObject({ isShrunk: true });
  expect(prompt?.items[0]).toEqual({ ...asked('[An image was here.]') });
  expect(JSON.stringify(prompt?.items[2]).length).toBeLessThan(10_000);
  expect(prompt?.items[3]).toEqual(image(40_000));
});

test('an input that is too large by itself gives no prompt, and a later turn leaves its images out', async () => {
  const entries: LogEntry[] = [
    { kind: 'model', turnId: 't1', item: said('before') },
    { kind: 'model', turnId: 't2', item: image(150_000) },
  ];
  expect(await historyOf(entries).prompt()).toBeNull();
  const prompt = await historyOf([
    ...entries,
    { kind: 'model', turnId: 't3', item: asked('after') },
  ]).prompt();
  expect(prompt?.items).toEqual([said('before'), asked('[An image was here.]'), asked('after')]);
});

test('if that is not enough, the oldest items are left out, in any number', async () => {
  const entries = Array.from(
    { length: 100 },
    (_, n): LogEntry => ({
      kind: 'model',
      turnId: `t${n}`,
      item: said(`${n} ${'y'.repeat(3_000)}`),
    }),
  );
  const history = historyOf(entries);
  const state = await history.state();
  expect(state).toMatchObject({ isCut: true, prompt: { isShrunk: true } });
  expect(state?.prompt.bytes).toBeLessThan(PROMPT_BYTES_MAX);
  expect(state?.read.length).toBeGreaterThan(3);
  expect(state?.read.at(-1)?.item).toEqual(
    entries.at(-1)?.kind === 'model' ? said(`99 ${'y'.repeat(3_000)}`) : null,
  );
});

test('after a compaction the prompt is what the compaction left, and what came later', async () => {
  const history = historyOf([
    { kind: 'model', turnId: 't1', item: image(150_000) },
    { kind: 'model', turnId: 't1', item: said('seen') },
    { kind: 'compacted', turnId: 't2', items: [asked('in short')] },
    { kind: 'model', turnId: 't3', item: asked('next') },
  ]);
  expect((await history.prompt())?.items).toEqual([asked('in short'), asked('next')]);
});
