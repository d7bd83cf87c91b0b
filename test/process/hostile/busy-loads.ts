import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResponseItem } from '../../../src/protocol/generated/types.ts';
import type { TestClient } from '../../support/test-client.ts';

const MB = 1024 * 1024;
const SANDBOX = { type: 'workspaceWrite' as const, excludeSlashTmp: true };

/**
 * A server with a home of its own, whose provider answers the next requests with these responses,
 * each a list of output items.
 */
export interface BusyServer {
  heddle: Pick<TestClient, 'request' | 'turn' | 'waitFor'>;
  home: string;
  say: (...responses: object[][]) => void;
}

/** Prepares the load in a folder of its own, and returns the function that runs it. */
export type Load = (busy: BusyServer, folder: string) => Promise<() => Promise<unknown>>;

/** A turn in which the model says this first. */
export function turn(...items: object[]): Load {
  return async ({ heddle, say }, folder) => {
    const { thread } = await heddle.request('thread/start', {
      cwd: folder,
      approvalPolicy: 'never',
    });
    say(items);
    return () => heddle.turn(thread.id, 'go', { sandboxPolicy: SANDBOX });
  };
}

export function command(cmd: string): Load {
  return turn({
    type: 'function_call',
    id: 'fc_1',
    call_id: 'c1',
    name: 'exec_command',
    arguments: JSON.stringify({ cmd, login: false }),
  });
}

export function patch(lines: readonly string[], files: Record<string, string> = {}): Load {
  const input = ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');
  const run = turn({
    type: 'custom_tool_call',
    id: 'ctc_1',
    call_id: 'p1',
    name: 'apply_patch',
    input,
  });
  return async (busy, folder) => {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const apply = await run(busy, folder);
    return async () => {
      await apply();
      const { item } = await busy.heddle.waitFor(
        'item/completed',
        (sent) => sent.item.type === 'fileChange',
      );
      assert.equal(item.type === 'fileChange' && item.status, 'completed');
    };
  };
}

const sourceLine = (index: number) => `  const value${index} = compute(${index}, 'of this line');`;

export function sourceLines(count: number): string[] {
  return Array.from({ length: count }, (_, index) => sourceLine(index));
}

/** Some 2.5 MB. Longer items take the store longer. */
const MANY_LINES = sourceLines(50_000);

export function manyHunks(count: number): Load {
  const all = Array.from({ length: count * 10 }, (_, index) => `line ${index}`);
  const lines = Array.from({ length: count }, (_, index) => [
    '@@',
    ` ${all[index * 10]}`,
    `-${all[index * 10 + 1]}`,
    '+changed',
  ]).flat();
  return patch(['*** Update File: f.ts', ...lines], { 'f.ts': `${all.join('\n')}\n` });
}

function manyEntries(folder: string, count: number): void {
  mkdirSync(folder);
  for (let index = 0; index < count; index++) writeFileSync(join(folder, `entry${index}`), '');
}

const PARTS = '\n# The parts of a load.\n';

/** A thread starts, twice, after its server's config.toml got these parts. */
export function configured(part: (index: number) => string, count: number): Load {
  return async ({ heddle, home }, folder) => {
    const file = join(home, 'config.toml');
    // Without the parts of an earlier time.
    const [own = ''] = readFileSync(file, 'utf8').split(PARTS);
    writeFileSync(
      file,
      `${own}${PARTS}${Array.from({ length: count }, (_, index) => part(index)).join('')}`,
    );
    return async () => {
      for (let times = 0; times < 2; times++) await heddle.request('thread/start', { cwd: folder });
    };
  };
}

/** A load while so many hooks are configured for an event. */
export function hooked(event: string, count: number, load: Load): Load {
  return (busy, folder) => {
    const hooks = Array.from({ length: count }, (_, index) => ({
      type: 'command',
      command: `true ${index}`,
    }));
    writeFileSync(
      join(busy.home, 'hooks.json'),
      JSON.stringify({ hooks: { [event]: [{ hooks }] } }),
    );
    return load(busy, folder);
  };
}

export function calls(count: number, name: string, given: object): object[] {
  const call = { type: 'function_call', name, arguments: JSON.stringify(given) };
  return Array.from({ length: count }, (_, index) => ({
    ...call,
    id: `fc_${index}`,
    call_id: `c${index}`,
  }));
}

/** Items of a conversation, as the provider's API has them. */
export function messages(count: number): ResponseItem[] {
  return Array.from({ length: count }, (_, index) =>
    index % 2 === 0
      ? {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_text', text: sourceLine(index) }],
        }
      : {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: sourceLine(index) }],
        },
  );
}

async function inject(heddle: BusyServer['heddle'], threadId: string): Promise<void> {
  for (let times = 0; times < 20; times++)
    await heddle.request('thread/inject_items', { threadId, items: messages(1_000) });
}

/** The long work that clients, models and files can cause, each within its limits. */
export const LOADS: Record<string, Load> = {
  'a command that prints 300,000 lines': command('seq 300000'),
  'a command that prints 20 MB without a line end': command(
    'head -c 20000000 /dev/zero | tr "\\\\0" x',
  ),
  'a long command line': command(`true ${'$(echo a | cat) && true '.repeat(600)}`),
  'a long command line that is hard to parse': command('a=(b '.repeat(3_000)),
  'a long command line of which each part is hard to parse': command(')'.repeat(16_000)),
  'a long command line with many errors': command('${a'.repeat(5_300)),
  'a patch that adds a file of 2.5 MB': patch([
    '*** Add File: f.ts',
    ...MANY_LINES.map((line) => `+${line}`),
  ]),
  'a patch that adds a file of 10 MB': patch([
    '*** Add File: f.ts',
    ...sourceLines(200_000).map((line) => `+${line}`),
  ]),
  'a patch that deletes a file of 2.5 MB': patch(['*** Delete File: f.ts'], {
    'f.ts': `${MANY_LINES.join('\n')}\n`,
  }),
  'a patch that changes 1.2 MB in one hunk': patch(
    [
      '*** Update File: f.ts',
      '@@',
      ...MANY_LINES.slice(0, 12_000).flatMap((line) => [`-${line}`, `+${line}!`]),
    ],
    { 'f.ts': `${MANY_LINES.join('\n')}\n` },
  ),
  'a small patch in a file of 20 MB': patch(
    ['*** Update File: f.ts', '@@', `-${sourceLine(399_999)}`, '+end'],
    {
      'f.ts': `${sourceLines(400_000).join('\n')}\n`,
    },
  ),
  'a patch with 10,000 hunks': manyHunks(10_000),
  'a patch that adds 2,000 files': patch(
    sourceLines(2_000).flatMap((line, index) => [`*** Add File: d/f${index}.ts`, `+${line}`]),
  ),
  'an answer of 2.5 MB in one item': turn({
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text: `${MANY_LINES.join('\n')}\n` }],
  }),
  '900 calls in one response': turn(
    ...Array.from({ length: 900 }, (_, index) => ({
      type: 'function_call',
      id: `fc_${index}`,
      call_id: `c${index}`,
      name: 'update_plan',
      arguments: JSON.stringify({ plan: [{ step: `step ${index}`, status: 'pending' }] }),
    })),
  ),
  'a folder of 100,000 entries, listed': async ({ heddle }, folder) => {
    manyEntries(join(folder, 'many'), 100_000);
    return () => heddle.request('fs/readDirectory', { path: join(folder, 'many') });
  },
  'a folder of 5,000 entries, copied and removed': async ({ heddle }, folder) => {
    manyEntries(join(folder, 'many'), 5_000);
    return async () => {
      await heddle.request('fs/copy', {
        sourcePath: join(folder, 'many'),
        destinationPath: join(folder, 'copy'),
        recursive: true,
      });
      await heddle.request('fs/remove', { path: join(folder, 'many') });
    };
  },
  'a watched folder in which 20,000 entries appear': async ({ heddle }, folder) => {
    const path = join(folder, 'many');
    mkdirSync(path);
    await heddle.request('fs/watch', { watchId: folder, path });
    return async () => {
      for (let index = 0; index < 20_000; index++) writeFileSync(join(path, `entry${index}`), '');
      await heddle.waitFor('fs/changed', ({ watchId }) => watchId === folder);
      await heddle.request('fs/unwatch', { watchId: folder });
    };
  },
  'a file of 20 MB, read and written': async ({ heddle }, folder) => {
    const path = join(folder, 'f');
    writeFileSync(path, Buffer.alloc(20 * MB, 'abc'));
    return async () => {
      const { dataBase64 } = await heddle.request('fs/readFile', { path });
      await heddle.request('fs/writeFile', { path, dataBase64 });
    };
  },
  'instructions of 1 MB': async ({ heddle }, folder) => {
    writeFileSync(join(folder, 'AGENTS.md'), `${sourceLines(20_000).join('\n')}\n`);
    return async () => {
      const { thread } = await heddle.request('thread/start', { cwd: folder });
      await heddle.turn(thread.id, 'go');
    };
  },
  'rules of 1 MB': async (busy, folder) => {
    const rules = Array.from(
      { length: 12_000 },
      (_, index) => `prefix_rule(pattern=["program${index}", "argument"], decision="allow")`,
    );
    mkdirSync(join(busy.home, 'rules'), { recursive: true });
    writeFileSync(join(busy.home, 'rules', 'many.rules'), `${rules.join('\n')}\n`);
    return command('true')(busy, folder);
  },
  'a config.toml of 250 KB: profiles': configured(
    (index) => `[profiles.p${index}]\nmodel = "m${index}"\n`,
    8_000,
  ),
  'a config.toml of 250 KB: projects': configured(
    (index) => `[projects."/home/user/work/p${index}"]\ntrust_level = "trusted"\n`,
    4_000,
  ),
  'a config.toml of 250 KB: providers': configured(
    (index) => `[model_providers.p${index}]\nbase_url = "http://127.0.0.1/${index}"\n`,
    4_000,
  ),
  'a config.toml of 250 KB: unknown keys': configured(
    (index) => `[unknown${index}]\nkey = "value ${index}"\n`,
    7_000,
  ),
  'a config.toml of 250 KB: variables of commands': configured(
    (index) =>
      index === 0 ? '[shell_environment_policy.set]\n' : `VARIABLE_${index} = "value ${index}"\n`,
    8_000,
  ),
  'a config.toml of 250 KB: servers that are off': configured(
    (index) => `[mcp_servers.s${index}]\ncommand = "none"\nenabled = false\n`,
    4_500,
  ),
  'a config.toml of 250 KB: permission profiles': configured(
    (index) => `[permissions.p${index}]\nextends = ":workspace"\n`,
    5_500,
  ),
  'a config.toml of 250 KB: roles': configured(
    (index) => `[agents.r${index}]\ndescription = "role ${index}"\n`,
    5_500,
  ),
  'a config of 8,000 keys in a request': async ({ heddle }, folder) => {
    const config = Object.fromEntries(
      Array.from({ length: 8_000 }, (_, index) => [`profiles.p${index}.model`, `m${index}`]),
    );
    return () => heddle.request('thread/start', { cwd: folder, config });
  },
  "a client's command that prints 60 MB": async ({ heddle }, folder) => {
    const command = ['sh', '-c', 'head -c 60000000 /dev/zero | tr "\\0" x'];
    return () => heddle.request('command/exec', { command, cwd: folder, disableOutputCap: true });
  },
  "a client's command that prints 20 MB of other characters": async ({ heddle }, folder) => {
    const command = ['sh', '-c', 'yes "zwölf Boxkämpfer € 😀 \\ "" | head -c 20000000'];
    return () => heddle.request('command/exec', { command, cwd: folder, disableOutputCap: true });
  },
  "a client's command that prints 20 MB as it comes": async ({ heddle }, folder) => {
    const command = ['sh', '-c', 'head -c 20000000 /dev/zero'];
    return () =>
      heddle.request('command/exec', {
        command,
        cwd: folder,
        processId: 'p',
        streamStdoutStderr: true,
        disableOutputCap: true,
      });
  },
  'a history of 20,000 items, given': async ({ heddle }, folder) => {
    const threadId = randomUUID();
    return () =>
      heddle.request('thread/resume', {
        threadId,
        cwd: folder,
        history: messages(20_000),
        excludeTurns: true,
      });
  },
  'a history of 20,000 items, injected': async ({ heddle }, folder) => {
    const { thread } = await heddle.request('thread/start', { cwd: folder });
    return () => inject(heddle, thread.id);
  },
  'a turn after a history of 20,000 items': async (busy, folder) => {
    const { thread } = await busy.heddle.request('thread/start', { cwd: folder });
    await inject(busy.heddle, thread.id);
    return async () => {
      busy.say([]);
      await busy.heddle.turn(thread.id, 'go');
      busy.say([]);
      await busy.heddle.turn(thread.id, 'go on');
    };
  },
  'a fork of a history of 20,000 items': async (busy, folder) => {
    const { thread } = await busy.heddle.request('thread/start', { cwd: folder });
    await inject(busy.heddle, thread.id);
    return async () => {
      const forked = await busy.heddle.request('thread/fork', { threadId: thread.id });
      await busy.heddle.turn(forked.thread.id, 'go');
    };
  },
  'a summary of a history of 20,000 items': async (busy, folder) => {
    const { thread } = await busy.heddle.request('thread/start', { cwd: folder });
    await inject(busy.heddle, thread.id);
    return async () => {
      busy.say([
        {
          type: 'message',
          id: 'm',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'all of it' }],
        },
      ]);
      await busy.heddle.request('thread/compact/start', { threadId: thread.id });
      await busy.heddle.waitFor('item/completed', ({ item }) => item.type === 'contextCompaction');
    };
  },
  '100 hooks': hooked('UserPromptSubmit', 100, turn()),
  '100 hooks of a call': hooked('PreToolUse', 100, command('true')),
  '64 commands at once': turn(...calls(64, 'exec_command', { cmd: 'true', login: false })),
  '300 commands at once': turn(...calls(300, 'exec_command', { cmd: 'true', login: false })),
  '1,000 calls that are refused': turn(...calls(1_000, 'no_such_tool', {})),
  '64 commands of clients at once':
    async ({ heddle }, folder) =>
    () =>
      Promise.all(
        Array.from({ length: 64 }, () =>
          heddle.request('command/exec', { command: ['true'], cwd: folder }),
        ),
      ),
  '20 MB of arguments of an unknown tool': turn(
    ...calls(1, 'no_such_tool', { text: 'word '.repeat(4_000_000) }),
  ),
  '20 MB of arguments with escapes': turn(
    ...calls(1, 'no_such_tool', { text: 'wörd "x"\n'.repeat(1_700_000) }),
  ),
  '20 MB of arguments of a command': turn(
    ...calls(1, 'exec_command', { cmd: `true ${'word '.repeat(4_000_000)}` }),
  ),
  '20 MB of arguments of a plan': turn(
    ...calls(1, 'update_plan', { plan: [{ step: 'word '.repeat(4_000_000), status: 'pending' }] }),
  ),
  '20 MB of many arguments': turn(
    ...calls(1, 'update_plan', {
      plan: Array.from({ length: 300_000 }, (_, index) => ({
        step: `this is the step ${index}`,
        status: 'pending',
      })),
    }),
  ),
  'a patch of all lines of a file of 20 MB': patch(
    [
      '*** Update File: f.ts',
      '@@',
      ...sourceLines(100_000).flatMap((line) => [`-${line}`, `+${line}!`]),
    ],
    { 'f.ts': `${sourceLines(400_000).join('\n')}\n` },
  ),
  'a small patch in a file of 20 MB without line ends': patch(
    ['*** Update File: f.ts', '@@', '-start', '+end'],
    {
      'f.ts': `start\n${'x'.repeat(20_000_000)}\n`,
    },
  ),
  'an image of 10 MB': async ({ heddle }, folder) => {
    const path = join(folder, 'f.png');
    writeFileSync(
      path,
      Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(10 * MB, 'abc')]),
    );
    const { thread } = await heddle.request('thread/start', { cwd: folder });
    return () => heddle.turn(thread.id, [{ type: 'localImage', path }]);
  },
  'an input of 1 MB': async ({ heddle }, folder) => {
    const { thread } = await heddle.request('thread/start', { cwd: folder });
    return () => heddle.turn(thread.id, '$skill é '.repeat(100_000));
  },
  '20 MB in requests': async ({ heddle }, folder) => {
    const { thread } = await heddle.request('thread/start', { cwd: folder });
    const items = [
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'some text\n'.repeat(200_000) }],
      },
    ];
    return async () => {
      for (let times = 0; times < 10; times++)
        await heddle.request('thread/inject_items', { threadId: thread.id, items });
    };
  },
  'a list of 100 threads with long names': async ({ heddle }, folder) => {
    for (let index = 0; index < 100; index++) {
      const { thread } = await heddle.request('thread/start', { cwd: folder });
      await heddle.turn(thread.id, 'x'.repeat(10_000));
    }
    return () => heddle.request('thread/list', { limit: 100 });
  },
};
