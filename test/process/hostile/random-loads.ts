import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  calls,
  command,
  configured,
  hooked,
  type Load,
  manyHunks,
  messages,
  patch,
  sourceLines,
  turn,
} from './busy-loads.ts';
import type { Random } from './random.ts';

/** A load of a random size, and its name. */
export interface RandomLoad {
  name: string;
  load: Load;
  /** How long it may keep the main loop working, if longer than others. */
  workedMsMax?: number;
}

interface Kind {
  /** The largest size. The sizes of the loads are near it, or far below. */
  max: number;
  make: (size: number, random: Random) => Load;
  /**
   * How long it may keep the main loop working, if longer than others: docs/performance/waiting.md
   * names these loads.
   */
  workedMsMax?: number;
}

const CONFIGS = [
  (index: number) => `[profiles.p${index}]\nmodel = "m${index}"\n`,
  (index: number) => `[projects."/nowhere/work/p${index}"]\ntrust_level = "trusted"\n`,
  (index: number) => `[model_providers.p${index}]\nbase_url = "http://127.0.0.1/${index}"\n`,
  (index: number) => `[unknown${index}]\nkey = "value ${index}"\n`,
  (index: number) => `[mcp_servers.s${index}]\ncommand = "none"\nenabled = false\n`,
  (index: number) => `[permissions.p${index}]\nextends = ":workspace"\n`,
  (index: number) => `[agents.r${index}]\ndescription = "role ${index}"\n`,
  (index: number) =>
    index === 0 ? '[shell_environment_policy.set]\n' : `VARIABLE_${index} = "value ${index}"\n`,
];
const EVENTS = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'];

/** A load for each kind of request and event that can be large. Add a kind for each new one. */
const KINDS: Record<string, Kind> = {
  'bytes of output': {
    max: 5_000_000,
    make: (size) => command(`head -c ${size} /dev/zero | tr "\\\\0" x`),
  },
  'lines of output': { max: 200_000, make: (size) => command(`seq ${size}`) },
  'characters of a command': {
    max: 20_000_000,
    make: (size) => command(`true ${'word '.repeat(size / 5)}`),
  },
  commands: {
    max: 128,
    make: (size) => turn(...calls(size, 'exec_command', { cmd: 'true', login: false })),
  },
  'calls that are refused': {
    max: 1_000,
    make: (size) => turn(...calls(size, 'no_such_tool', {})),
  },
  'calls that are recorded': {
    max: 1_000,
    make: (size) =>
      turn(...calls(size, 'update_plan', { plan: [{ step: 'a', status: 'pending' }] })),
  },
  'characters of arguments': {
    max: 20_000_000,
    make: (size) => turn(...calls(1, 'no_such_tool', { text: 'wörd\n'.repeat(size / 5) })),
    workedMsMax: 40,
  },
  'values of arguments': {
    max: 300_000,
    make: (size) =>
      turn(
        ...calls(1, 'no_such_tool', {
          list: Array.from({ length: size }, (_, index) => ({ index, text: `text ${index}` })),
        }),
      ),
  },
  'characters of an answer': {
    max: 2_500_000,
    make: (size) =>
      turn({
        type: 'message',
        id: 'm',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'wörd \n'.repeat(size / 6) }],
      }),
  },
  'added lines of a patch': {
    max: 50_000,
    make: (size) => patch(['*** Add File: f.ts', ...sourceLines(size).map((line) => `+${line}`)]),
  },
  'hunks of a patch': { max: 5_000, make: (size) => manyHunks(size) },
  'lines of a patched file': {
    max: 400_000,
    make: (size) =>
      patch(['*** Update File: f.ts', '@@', `-${sourceLines(size).at(-1)}`, '+end'], {
        'f.ts': `${sourceLines(size).join('\n')}\n`,
      }),
  },
  hooks: { max: 100, make: (size, random) => hooked(random.pick(EVENTS), size, command('true')) },
  'parts of config.toml': {
    max: 3_500,
    make: (size, random) => configured(random.pick(CONFIGS), size),
  },
  'keys of a request': {
    max: 8_000,
    make:
      (size) =>
      async ({ heddle }, folder) => {
        const config = Object.fromEntries(
          Array.from({ length: size }, (_, index) => [`profiles.p${index}.model`, `m${index}`]),
        );
        return () => heddle.request('thread/start', { cwd: folder, config });
      },
  },
  'bytes of instructions': {
    max: 1_000_000,
    make:
      (size) =>
      async ({ heddle }, folder) => {
        writeFileSync(join(folder, 'AGENTS.md'), 'wörd\n'.repeat(size / 6));
        return async () => {
          const { thread } = await heddle.request('thread/start', { cwd: folder });
          await heddle.turn(thread.id, 'go');
        };
      },
  },
  'characters of input': {
    max: 1_000_000,
    make:
      (size) =>
      async ({ heddle }, folder) => {
        const { thread } = await heddle.request('thread/start', { cwd: folder });
        return () => heddle.turn(thread.id, '$skill é @file '.repeat(size / 15));
      },
  },
  'injected items': {
    max: 1_000,
    make:
      (size) =>
      async ({ heddle }, folder) => {
        const { thread } = await heddle.request('thread/start', { cwd: folder });
        return async () => {
          await heddle.request('thread/inject_items', {
            threadId: thread.id,
            items: messages(size),
          });
          await heddle.turn(thread.id, 'go');
        };
      },
  },
  'bytes of output of a client': {
    max: 16_000_000,
    make:
      (size) =>
      async ({ heddle }, folder) => {
        const argv = ['sh', '-c', `yes "zwölf Boxkämpfer" | head -c ${size}`];
        return () =>
          heddle.request('command/exec', { command: argv, cwd: folder, disableOutputCap: true });
      },
  },
  'commands of clients': {
    max: 128,
    make:
      (size) =>
      async ({ heddle }, folder) =>
      () =>
        Promise.all(
          Array.from({ length: size }, () =>
            heddle.request('command/exec', { command: ['true'], cwd: folder }),
          ),
        ),
  },
};

/** Loads without end: each kind once in a random order, then all again. */
export function* randomLoads(random: Random): Generator<RandomLoad, never> {
  for (;;) {
    const kinds = Object.entries(KINDS);
    while (kinds.length > 0) {
      const [
        [kind = '', { max, make, workedMsMax } = { max: 0, make: () => turn() } as Kind] = [],
      ] = kinds.splice(random.below(kinds.length), 1);
      const size = Math.ceil(
        random.chance(0.7)
          ? max * (0.7 + random.below(31) / 100)
          : max / 2 ** random.between(1, 10),
      );
      yield {
        name: `${size.toLocaleString('en')} ${kind}`,
        load: make(size, random),
        ...(workedMsMax && { workedMsMax }),
      };
    }
  }
}
