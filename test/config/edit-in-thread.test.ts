import { join } from 'node:path';
import { expect, test } from 'vitest';
import { editInThread } from '../../src/config/writing/edit-in-thread.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { tempFolder } from './temp-folder.ts';

const EDIT = [{ path: ['model'], value: 'x', mergeStrategy: 'replace' as const }];

test('edits that take too long are given up', async () => {
  const clock = new FakeClock();
  const edited = editInThread(join(tempFolder({ 'hangs.js': 'for (;;);' }), 'hangs.js'), clock)(
    '',
    EDIT,
  );
  await clock.timerOf(30_000);
  clock.advance(30_000);
  expect(await edited).toEqual({
    problem: expect.stringContaining(
      'The edits take longer than 30 s. config.toml was not changed',
    ),
  });
});

test('a worker that ends without a result is a fault of the server', async () => {
  const edit = editInThread(join(tempFolder({ 'ends.js': '' }), 'ends.js'), new FakeClock());
  await expect(edit('', EDIT)).rejects.toThrow(
    'the worker that edits config.toml gave no result: it ended with status 0',
  );
});

test('a worker that cannot start is not said to have ended', async () => {
  const edit = editInThread(join(tempFolder({ 'any.js': '' }), 'any.js'), new FakeClock());
  // A symbol cannot be sent to a worker.
  const edits = [{ ...EDIT[0], value: Symbol('x') as unknown as string }] as typeof EDIT;
  await expect(edit('', edits)).rejects.toThrow(
    'the worker that edits config.toml gave no result: Symbol(x) could not be cloned.',
  );
});
