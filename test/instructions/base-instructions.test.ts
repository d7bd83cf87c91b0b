import { expect, test } from 'vitest';
import { BASE_INSTRUCTIONS } from '../../src/instructions/base-instructions.ts';

test('the base instructions stay short: every request pays for them', () => {
  expect(BASE_INSTRUCTIONS.length).toBeLessThan(3000);
  expect(BASE_INSTRUCTIONS.split('\n').length).toBeLessThan(40);
});
