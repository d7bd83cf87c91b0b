import { expect, test } from 'vitest';
import { ItemTexts } from '../../src/model/http/item-texts.ts';
import { asked } from '../support/test-model.ts';

test('the text of a small item is made once, and that of a long one is not kept', () => {
  const texts = new ItemTexts();
  let made = 0;
  const make = (item: unknown) => {
    made++;
    return JSON.stringify(item);
  };
  const [small, long] = [asked('hi'), asked('x'.repeat(100_000))];
  expect([texts.of(small, make), texts.of(small, make), texts.of(long, make)]).toEqual([
    JSON.stringify(small),
    JSON.stringify(small),
    null,
  ]);
  expect(made).toBe(1);
});
