import { expect, test } from 'vitest';
import { PacedProcesses } from '../../src/deterministic/paced-processes.ts';
import { VirtualClock } from '../../src/deterministic/virtual-clock.ts';
import type {
  OutputStream,
  ProcessEnd,
  Processes,
  ProcessSpec,
  RunningProcess,
} from '../../src/sandbox/processes/processes.ts';

/** A process whose output and end the test decides. It always sleeps. */
interface FakeProcess {
  print(stream: OutputStream, text: string): void;
  end(exitCode: number): void;
}

/** Starts processes through `PacedProcesses`; `heard` has everything that they passed on. */
function pacedWorld() {
  const heard: string[] = [];
  const fakes: FakeProcess[] = [];
  const inner: Processes = {
    async start(_spec, onOutput) {
      let end = (_end: ProcessEnd) => {};
      const ended = new Promise<ProcessEnd>((resolve) => {
        end = resolve;
      });
      fakes.push({
        print: (stream, text) => onOutput(stream, Buffer.from(text)),
        end: (exitCode) => end({ exitCode, allRead: true }),
      });
      const nothing = () => {};
      return {
        ...{
          pid: 4711,
          ended,
          endInput: nothing,
          resize: nothing,
          pause: nothing,
          resume: nothing,
          write: async () => {},
        },
        attend: () => nothing,
        waiting: async () => 'asleep',
        interrupt: async () => {},
        terminate: async () => {},
        kill: async () => end({ exitCode: 137, allRead: true }),
      };
    },
    killOwned: async () => {},
    prepare: async () => {},
    tidy: async () => {},
    close: async () => {},
  };
  const paced = new PacedProcesses(inner, { clock: new VirtualClock(), during: (work) => work });
  const start = async (name: string): Promise<{ running: RunningProcess; fake: FakeProcess }> => {
    const spec: ProcessSpec = {
      argv: [name],
      cwd: '/',
      env: {},
      bounds: null,
      owner: [name],
      input: false,
      terminal: null,
    };
    const running = await paced.start(spec, (stream, bytes) =>
      heard.push(`${name} ${stream} ${bytes.length}`),
    );
    void running.ended.then(({ exitCode }) => heard.push(`${name} ended ${exitCode}`));
    const fake = fakes.at(-1);
    if (fake === undefined) throw new Error('nothing was started');
    return { running, fake };
  };
  const hearAll = async () => {
    while (await paced.hearNext({ timePasses: true }));
  };
  return { heard, start, hearAll };
}

test('processes are heard one after another, the one with the earliest deadline first', async () => {
  const { heard, start, hearAll } = pacedWorld();
  const [one, two, three] = [await start('one'), await start('two'), await start('three')];
  for (const [process, waitMs] of [
    [one, 1000],
    [two, 1000],
    [three, 250],
  ] as const)
    process.running.attend(waitMs);
  for (const { fake } of [two, three, one]) {
    fake.print('stdout', 'text');
    fake.end(0);
  }
  await hearAll();
  const expected = ['three', 'one', 'two'].flatMap((name) => [
    `${name} stdout 4`,
    `${name} ended 0`,
  ]);
  expect(heard).toEqual(expected);
  expect([one, two, three].map(({ running }) => running.pid)).toEqual([1, 2, 3]);
});

test('output is passed on in pieces of 64 KiB, and stderr behind stdout', async () => {
  const { heard, start, hearAll } = pacedWorld();
  const { running, fake } = await start('a');
  running.attend(100);
  fake.print('stderr', 'e'.repeat(70_000));
  for (let part = 0; part < 10; part++) fake.print('stdout', 'o'.repeat(10_000));
  await hearAll();
  expect(heard).toEqual(['a stdout 65536', 'a stdout 34464', 'a stderr 65536', 'a stderr 4464']);
});

test('a process that nobody waits for is not heard, and one that is killed has the exit code of a kill', async () => {
  const { heard, start, hearAll } = pacedWorld();
  const { running, fake } = await start('a');
  fake.print('stdout', 'text');
  fake.end(0);
  await hearAll();
  expect(heard).toEqual([]);
  await running.kill();
  await hearAll();
  expect(heard).toEqual(['a ended 137']);
});
