/** Rejects if the promise has not settled after this number of milliseconds. */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  const deadline = AbortSignal.timeout(ms);
  const late = new Promise<never>((_resolve, reject) => {
    deadline.addEventListener(
      'abort',
      () => reject(new LateError(`${what} took longer than ${ms} ms`)),
      { once: true },
    );
  });
  return Promise.race([promise, late]);
}

export class LateError extends Error {}
