import { expect, test } from 'vitest';
import { type KeptPrompt, PromptBudget } from '../../src/agent/prompt/prompt-budget.ts';

class Kept implements KeptPrompt {
  isKept = true;
  constructor(
    readonly bytes: number,
    readonly budget: PromptBudget,
  ) {}

  drop(): void {
    this.isKept = false;
    this.budget.remove(this);
  }
}

const signal = new AbortController().signal;

test('the prompts that were not used for the longest time are dropped', () => {
  const budget = new PromptBudget(100);
  const [a, b, c] = [40, 40, 40].map((bytes) => new Kept(bytes, budget)) as [Kept, Kept, Kept];
  for (const prompt of [a, b, a, c]) budget.used(prompt);
  expect([a.isKept, b.isKept, c.isKept]).toEqual([true, false, true]);
});

test('the prompt of a request is not dropped, and further requests wait for it', async () => {
  const budget = new PromptBudget(100);
  const [a, b] = [new Kept(40, budget), new Kept(40, budget)];
  budget.used(a);
  const end = await budget.requesting(a, signal);
  budget.used(b);
  budget.used(new Kept(40, budget));
  expect([a.isKept, b.isKept]).toEqual([true, false]);
  let isBegun = false;
  const later = budget.requesting(b, signal).then((endOfLater) => {
    isBegun = true;
    return endOfLater;
  });
  await Promise.resolve();
  expect(isBegun).toBe(false);
  end();
  (await later)();
});

test('an aborted turn does not wait', async () => {
  const budget = new PromptBudget(100);
  const end = await budget.requesting(new Kept(40, budget), signal);
  const abort = new AbortController();
  const waiting = budget.requesting(new Kept(40, budget), abort.signal);
  abort.abort();
  (await waiting)();
  end();
  (await budget.requesting(new Kept(50, budget), signal))();
});
