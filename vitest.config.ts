import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** With two processors vitest runs one file at a time; but most tests wait for processes. */
const PARALLEL = { maxWorkers: Math.max(availableParallelism() - 1, 2) };
const common = { testTimeout: 20_000, hookTimeout: 20_000 };

export default defineConfig({
  test: {
    projects: [
      { test: { ...common, ...PARALLEL, name: 'heddle', include: ['test/**/*.test.ts'], exclude: ['test/process/**'] } },
      // These start the built executable, which is built for them when the sources are newer.
      {
        test: {
          ...common,
          ...PARALLEL,
          name: 'process',
          include: ['test/process/**/*.test.ts'],
          exclude: ['test/process/hostile/**', 'test/process/faults/**'],
          globalSetup: 'test/process/build.ts',
        },
      },
      // These tests measure how long a server is busy, so they run one after the other, after all other tests.
      {
        test: {
          ...common,
          name: 'hostile',
          include: ['test/process/hostile/**/*.test.ts'],
          globalSetup: 'test/process/build.ts',
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...common,
          name: 'faults',
          include: ['test/process/faults/**/*.test.ts'],
          globalSetup: 'test/process/build.ts',
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
