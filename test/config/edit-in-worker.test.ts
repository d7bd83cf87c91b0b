import { join } from 'node:path';
import { expect, test } from 'vitest';
import { editInWorker } from '../../src/config/writing/edit-in-worker.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { tempFolder } from './temp-folder.ts';

const EDIT = [{ path: ['model'], value: 'x', mergeStrategy: 'replace' as const }];

test('edits that take too long are given up', async () => {
  const clock = new FakeClock();
  const edited = editInWorker(join(tempFolder({ 'hangs.js': 'for (;;);' }), 'hangs.js'), clock)(
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
  const edit = editInWorker(join(tempFolder({ 'ends.js': '' }), 'ends.js'), new FakeClock());
  await expect(edit('', EDIT)).rejects.toThrow(
    'the worker that edits config.toml has died (it ended with status 0)',
  );
});

test('edits that are not data are refused with the reason', async () => {
  const edit = editInWorker(join(tempFolder({ 'any.js': '' }), 'any.js'), new FakeClock());
  const edits = [{ ...EDIT[0], value: Symbol('x') as unknown as string }] as typeof EDIT;
  await expect(edit('', edits)).rejects.toThrow(
    'the worker that edits config.toml gave no result: Symbol(x) could not be cloned.',
  );
});
