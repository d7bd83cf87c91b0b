/**
 * Returns an object whose methods pass their promises to `during`. So do the methods of objects
 * that these promises resolve with. Plain values, such as records, are returned as they are.
 */
export function countedCalls<T extends object>(
  target: T,
  during: <Result>(work: Promise<Result>) => Promise<Result>,
): T {
  return new Proxy(target, {
    get(_target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        const result: unknown = member.apply(target, args);
        return result instanceof Promise
          ? during(result.then((value: unknown) => withCountedCalls(value, during)))
          : result;
      };
    },
  });
}

function withCountedCalls(
  value: unknown,
  during: <Result>(work: Promise<Result>) => Promise<Result>,
): unknown {
  const isService =
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.getPrototypeOf(value) !== Object.prototype;
  return isService ? countedCalls(value, during) : value;
}
