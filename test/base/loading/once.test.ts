import { expect, test } from 'vitest';
import { Once } from '../../../src/base/loading/once.ts';

test('a value is made once for all who need it, and a failure is not kept', async () => {
  let calls = 0;
  const once = new Once(async () => {
    calls++;
    if (calls === 1) throw new Error('too many open files');
    return calls;
  });
  expect(once.made).toBeNull();
  const failed = await Promise.allSettled([once.get(), once.get()]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(calls).toBe(1);
  expect(await Promise.all([once.get(), once.get(), once.made])).toEqual([2, 2, 2]);
  once.forget();
  expect(once.made).toBeNull();
  expect(await once.get()).toBe(3);
});

test('what is made anew is not forgotten when an earlier attempt fails later', async () => {
  const attempts: { resolve: (value: string) => void; reject: (error: Error) => void }[] = [];
  const once = new Once(
    () => new Promise<string>((resolve, reject) => attempts.push({ resolve, reject })),
  );
  const first = once.get();
  once.forget();
  const second = once.get();
  attempts[0]?.reject(new Error('late'));
  await expect(first).rejects.toThrow('late');
  attempts[1]?.resolve('second');
  expect(await second).toBe('second');
  expect(once.made).toBe(second);
});
