/**
 * The number of inputs that a generator makes: a few with `npm test`, `all` of them with `npm run
 * test:all`. A test that uses it has the tag `seeded`, so that `npm run test:rest` runs it, too.
 */
export function runs(all: number, few: number = Math.ceil(all / 10)): number {
  return process.env.HEDDLE_TEST_RUNS === 'few' ? few : all;
}
