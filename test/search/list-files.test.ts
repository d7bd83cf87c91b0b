import { describe, expect, test } from 'vitest';
import type {
  OutputStream,
  Processes,
  RunningProcess,
} from '../../src/sandbox/processes/processes.ts';
import { listFiles } from '../../src/search/list-files.ts';
import { FakeClock } from '../support/fake-clock.ts';

/** A listing whose process the test plays. */
function listing({ wants = true, mortal = true } = {}) {
  const clock = new FakeClock();
  const said: string[] = [];
  const ending = new AbortController();
  let end = (_exitCode: number) => {};
  let write: (stream: OutputStream, bytes: Buffer) => void = () => {};
  const ended = new Promise<{ exitCode: number; allRead: boolean }>((resolve) => {
    end = (exitCode) => resolve({ exitCode, allRead: true });
  });
  const processes = {
    start: async (_spec, onOutput) => {
      write = onOutput;
      return {
        ended,
        kill: async () => (mortal ? end(137) : new Promise<void>(() => {})),
      } as RunningProcess;
    },
  } as Partial<Processes> as Processes;
  const onPaths = (bytes: Buffer) => said.push(bytes.toString()) > 0 && wants;
  const options = { program: 'rg', folder: '/f', onPaths, signal: ending.signal };
  const result = listFiles({ processes, clock, env: {} }, options);
  return {
    clock,
    said,
    result,
    ending,
    end: (code: number) => end(code),
    write: (text: string) => write('stdout', Buffer.from(text)),
  };
}

describe('the listing of files', () => {
  test.each([0, 1, 2])('is complete if ripgrep ends with %i', async (exitCode) => {
    const { said, result, write, end } = listing();
    await Promise.resolve();
    write('a\n');
    end(exitCode);
    expect([await result, said]).toEqual([null, ['a\n']]);
  });

  test.each([3, 126, 134, 137])('is not complete if ripgrep ends with %i', async (exitCode) => {
    const { result, end } = listing();
    end(exitCode);
    expect(await result).toContain(`exit code ${exitCode}`);
  });

  test('ends if nothing is found for five seconds, however many files were found before', async () => {
    const { clock, result, write } = listing();
    await Promise.resolve();
    write('a\nb\n');
    clock.advance(5000);
    clock.advance(5000);
    expect(await result).toContain('no file was found for 5 seconds');
  });

  test('ends after a minute, even if it still finds files', async () => {
    const { clock, result, write, said } = listing();
    await Promise.resolve();
    for (let seconds = 0; seconds < 70; seconds++) {
      write('a\n');
      clock.advance(1000);
    }
    expect(await result).toBe('listing them took longer than 60 seconds');
    expect(said.length).toBe(60);
  });

  test('ends if no more paths are wanted, or if its search ends', async () => {
    const full = listing({ wants: false });
    await Promise.resolve();
    full.write('a\n');
    full.write('b\n');
    expect([await full.result, full.said]).toEqual(['there are too many', ['a\n']]);
    const left = listing();
    left.ending.abort();
    expect(await left.result).toBe('the search was ended');
  });

  test('ends even if ripgrep cannot be killed', async () => {
    const { clock, result, ending } = listing({ mortal: false });
    await Promise.resolve();
    ending.abort();
    clock.advance(5000);
    expect(await result).toBe('the search was ended');
    expect(clock.timers).toEqual([]);
  });
});
