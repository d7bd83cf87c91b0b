import { expect, test } from 'vitest';
import { saveWaitMs } from '../../src/agent/items/save-wait-ms.ts';

const MAX_CHARS_PER_MS = (256 * 1024) / 500;

test.each([0, 1_000, 256 * 1024, 300_000, 4_000_000, 32_000_000])(
  'an item of %i characters is saved so seldom that it takes as much work as a shorter one',
  (length) => {
    const wait = saveWaitMs({
      type: 'agentMessage',
      id: 'a',
      text: 'x'.repeat(length),
      phase: null,
    });
    expect(wait).toBeGreaterThanOrEqual(500);
    expect(length / wait).toBeLessThanOrEqual(MAX_CHARS_PER_MS);
    if (length < 256 * 1024) expect(wait).toBe(500);
  },
);
