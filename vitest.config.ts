import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Vitest leaves one core free. Most tests wait for processes and disks, so two files at a time suit two cores.
const common = { testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: Math.max(2, availableParallelism() - 1) };

export default defineConfig({
  test: {
    projects: [
      { test: { ...common, name: 'heddle', include: ['test/**/*.test.ts'], exclude: ['test/process/**'] } },
      // These start the built executable, which is built for them when the sources are newer.
      {
        test: {
          ...common,
          name: 'process',
          include: ['test/process/**/*.test.ts'],
          exclude: ['test/process/timed/**', 'test/process/hostile/**', 'test/process/faults/**'],
          globalSetup: 'test/process/build.ts',
        },
      },
      // The tests of these three measure time, so they run one after another, after all other tests.
      {
        test: {
          ...common,
          name: 'timed',
          include: ['test/process/timed/**/*.test.ts'],
          globalSetup: 'test/process/build.ts',
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...common,
          name: 'hostile',
          include: ['test/process/hostile/**/*.test.ts'],
          globalSetup: 'test/process/build.ts',
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...common,
          name: 'faults',
          include: ['test/process/faults/**/*.test.ts'],
          globalSetup: 'test/process/build.ts',
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
