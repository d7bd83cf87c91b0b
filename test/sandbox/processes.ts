import { tmpdir } from 'node:os';
import { expect, onTestFinished, vi } from 'vitest';
import { createProcesses } from '../../src/sandbox/processes/create-processes.ts';
import type {
  Processes,
  ProcessSpec,
  RunningProcess,
} from '../../src/sandbox/processes/processes.ts';
import type { ProcessesDeps } from '../../src/sandbox/processes/processes-deps.ts';
import { RecordingLog } from '../support/recording-log.ts';

export const PATH = process.env.PATH ?? '';

/** Processes for the running test. They are killed when the test ends. */
export function systemProcesses(deps: Partial<ProcessesDeps> = {}): Processes {
  const log = new RecordingLog();
  const processes = createProcesses({
    sandbox: null,
    platform: process.platform,
    env: {},
    sendSignal: (pid, signal) => process.kill(pid, signal),
    log,
    ...deps,
  });
  onTestFinished(() => processes.close());
  return processes;
}

export interface Run extends RunningProcess {
  /** The output so far, as UTF-8. */
  readonly text: { stdout: string; stderr: string };
  /** Resolves when the output contains this. */
  says(expected: string | RegExp): Promise<void>;
}

/** Starts a shell script, or a program. */
export async function run(
  processes: Processes,
  what: string | string[],
  spec: Partial<ProcessSpec> = {},
): Promise<Run> {
  const text = { stdout: '', stderr: '' };
  const argv = typeof what === 'string' ? ['/bin/sh', '-c', what] : what;
  const given: ProcessSpec = {
    argv,
    cwd: tmpdir(),
    env: { PATH },
    bounds: null,
    owner: ['test'],
    input: false,
    terminal: null,
    ...spec,
  };
  const running = await processes.start(given, (stream, bytes) => {
    text[stream] += bytes.toString('utf8');
  });
  const says = (expected: string | RegExp) =>
    vi.waitFor(
      () =>
        expect(text.stdout).toEqual(
          typeof expected === 'string'
            ? expect.stringContaining(expected)
            : expect.stringMatching(expected),
        ),
      {
        timeout: 10_000,
        interval: 5,
      },
    );
  return { ...running, text, says };
}
