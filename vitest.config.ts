import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { useOwnTempFolder } from './test/support/run/own-temp-folder.ts';
import { mockingFiles, untaggedFiles } from './test/support/run/test-files.ts';

/**
 * `npm test` has the mode `quick`: without the tests that have the tag `slow`, and with few runs of
 * those that have the tag `seeded`. `npm run test:rest` has the mode `rest`: the tests with these
 * tags, with all runs. Both together run each test, and those with the tag `seeded` twice. Without
 * a mode, everything runs, with all runs. `npm run test:littered` runs tests of the mode `quick`
 * once more: see test/support/run/littered.js.
 */
const FILTERS: Record<string, string[]> = { quick: ['!slow'], rest: ['slow or seeded'] };

const TAGS = [
  { name: 'slow', description: 'Takes seconds, or measures time. `npm test` leaves it out.' },
  { name: 'seeded', description: 'Generates its input. `npm test` runs it with few inputs.' },
];

/**
 * The tests of these folders measure, so they run after all other tests, one folder after another,
 * and in each folder one file after another.
 */
const ALONE = ['timed', 'hostile', 'faults'];
const folderOf = (name: string) => `test/process/${name}/**`;

export default defineConfig(({ mode }) => {
  useOwnTempFolder();
  const tagsFilter = FILTERS[mode];
  // Files without these tags are not even loaded.
  const leftOut = mode === 'rest' ? untaggedFiles() : [];
  const mocking = mockingFiles();
  const measuring = ALONE.map(folderOf);
  const common = {
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A busy machine may need seconds for what takes milliseconds.
    expect: { poll: { timeout: 30_000 } },
    // The slow tests mostly wait for processes, so twice as many files as cores suit them.
    maxWorkers:
      mode === 'rest' ? 2 * availableParallelism() : Math.max(2, availableParallelism() - 1),
    // To load the sources again for each file would take longer than most files. Those that replace
    // modules need their own.
    isolate: false,
    restoreMocks: true,
    env: { HEDDLE_TEST_RUNS: mode === 'quick' ? 'few' : 'all' },
    exclude: leftOut,
    tags: TAGS,
    ...(tagsFilter === undefined ? {} : { tagsFilter }),
  };
  // These start the built executable, which is built for them when the sources are newer.
  const built = { ...common, globalSetup: 'test/process/build.ts' };
  return {
    test: {
      projects: [
        {
          test: {
            ...common,
            name: 'heddle',
            include: ['test/**/*.test.ts'],
            exclude: [...leftOut, ...mocking, 'test/process/**'],
          },
        },
        { test: { ...common, name: 'mocking', include: mocking, isolate: true } },
        {
          test: {
            ...built,
            name: 'process',
            include: ['test/process/**/*.test.ts'],
            exclude: [...leftOut, ...measuring],
          },
        },
        ...ALONE.map((name, index) => ({
          test: {
            ...built,
            name,
            include: [`${folderOf(name)}/*.test.ts`],
            fileParallelism: false,
            sequence: { groupOrder: index + 1 },
          },
        })),
      ],
    },
  };
});
