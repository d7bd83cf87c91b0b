import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { text } from '../../support/test-client.ts';
import type { HostileServer } from './hostile-server.ts';

const MB = 1024 * 1024;
const SANDBOX = { type: 'workspaceWrite' as const, excludeSlashTmp: true };

/** A server whose provider answers the next requests with these responses, each a list of output items. */
export interface BusyServer {
  server: HostileServer;
  say: (...responses: object[][]) => void;
}

/** Prepares the load in a folder of its own, and returns the function that runs it. */
type Load = (busy: BusyServer, folder: string) => Promise<() => Promise<unknown>>;

/** A turn in which the model says this first. */
function turn(...items: object[]): Load {
  return async ({ server: { heddle }, say }, folder) => {
    const { thread } = await heddle.request('thread/start', { cwd: folder, approvalPolicy: 'never' });
    say(items);
    return () => heddle.turn(thread.id, 'go', { sandboxPolicy: SANDBOX });
  };
}

function command(cmd: string): Load {
  return turn({ type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'exec_command', arguments: JSON.stringify({ cmd, login: false }) });
}

function patch(lines: readonly string[], files: Record<string, string> = {}): Load {
  const input = ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');
  const run = turn({ type: 'custom_tool_call', id: 'ctc_1', call_id: 'p1', name: 'apply_patch', input });
  return async (busy, folder) => {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const apply = await run(busy, folder);
    return async () => {
      await apply();
      const { item } = await busy.server.heddle.waitFor('item/completed', (sent) => sent.item.type === 'fileChange');
      expect(item).toMatchObject({ status: 'completed' });
    };
  };
}

const sourceLine = (index: number) => `  const value${index} = compute(${index}, 'of this line');`;

function sourceLines(count: number): string[] {
  return Array.from({ length: count }, (_, index) => sourceLine(index));
}

/** Some 2.5 MB. Longer items take the store longer. */
const MANY_LINES = sourceLines(50_000);

function manyHunks(count: number): Load {
  const all = Array.from({ length: count * 10 }, (_, index) => `line ${index}`);
  const lines = Array.from({ length: count }, (_, index) => ['@@', ` ${all[index * 10]}`, `-${all[index * 10 + 1]}`, '+changed']).flat();
  return patch(['*** Update File: f.ts', ...lines], { 'f.ts': `${all.join('\n')}\n` });
}

function manyEntries(folder: string, count: number): void {
  mkdirSync(folder);
  for (let index = 0; index < count; index++) writeFileSync(join(folder, `entry${index}`), '');
}

/** The long work that clients, models and files can cause, each within its limits. */
export const LOADS: Record<string, Load> = {
  'a command that prints 300,000 lines': command('seq 300000'),
  'a command that prints 20 MB without a line end': command('head -c 20000000 /dev/zero | tr "\\\\0" x'),
  'a long command line': command(`true ${'$(echo a | cat) && true '.repeat(600)}`),
  'a long command line that is hard to parse': command('a=(b '.repeat(3_000)),
  'a long command line of which each part is hard to parse': command(')'.repeat(16_000)),
  'a long command line with many errors': command('${a'.repeat(5_300)),
  'a patch that adds a file of 2.5 MB': patch(['*** Add File: f.ts', ...MANY_LINES.map((line) => `+${line}`)]),
  'a patch that adds a file of 10 MB': patch(['*** Add File: f.ts', ...sourceLines(200_000).map((line) => `+${line}`)]),
  'a patch that deletes a file of 2.5 MB': patch(['*** Delete File: f.ts'], { 'f.ts': `${MANY_LINES.join('\n')}\n` }),
  'a patch that changes 1.2 MB in one hunk': patch(
    ['*** Update File: f.ts', '@@', ...MANY_LINES.slice(0, 12_000).flatMap((line) => [`-${line}`, `+${line}!`])],
    { 'f.ts': `${MANY_LINES.join('\n')}\n` },
  ),
  'a small patch in a file of 20 MB': patch(['*** Update File: f.ts', '@@', `-${sourceLine(399_999)}`, '+end'], {
    'f.ts': `${sourceLines(400_000).join('\n')}\n`,
  }),
  'a patch with 10,000 hunks': manyHunks(10_000),
  'a patch that adds 2,000 files': patch(sourceLines(2_000).flatMap((line, index) => [`*** Add File: d/f${index}.ts`, `+${line}`])),
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
  'a folder of 100,000 entries, listed': async ({ server: { heddle } }, folder) => {
    manyEntries(join(folder, 'many'), 100_000);
    return () => heddle.request('fs/readDirectory', { path: join(folder, 'many') });
  },
  'a folder of 5,000 entries, copied and removed': async ({ server: { heddle } }, folder) => {
    manyEntries(join(folder, 'many'), 5_000);
    return async () => {
      await heddle.request('fs/copy', { sourcePath: join(folder, 'many'), destinationPath: join(folder, 'copy'), recursive: true });
      await heddle.request('fs/remove', { path: join(folder, 'many') });
    };
  },
  'a watched folder in which 20,000 entries appear': async ({ server: { heddle } }, folder) => {
    const path = join(folder, 'many');
    mkdirSync(path);
    await heddle.request('fs/watch', { watchId: folder, path });
    return async () => {
      for (let index = 0; index < 20_000; index++) writeFileSync(join(path, `entry${index}`), '');
      await heddle.waitFor('fs/changed', ({ watchId }) => watchId === folder);
      await heddle.request('fs/unwatch', { watchId: folder });
    };
  },
  'a file of 20 MB, read and written': async ({ server: { heddle } }, folder) => {
    const path = join(folder, 'f');
    writeFileSync(path, Buffer.alloc(20 * MB, 'abc'));
    return async () => {
      const { dataBase64 } = await heddle.request('fs/readFile', { path });
      await heddle.request('fs/writeFile', { path, dataBase64 });
    };
  },
  'instructions of 1 MB': async ({ server: { heddle } }, folder) => {
    writeFileSync(join(folder, 'AGENTS.md'), `${sourceLines(20_000).join('\n')}\n`);
    return async () => {
      const { thread } = await heddle.request('thread/start', { cwd: folder });
      await heddle.turn(thread.id, 'go');
    };
  },
  'rules of 1 MB': async (busy, folder) => {
    const rules = Array.from({ length: 12_000 }, (_, index) => `prefix_rule(pattern=["program${index}", "argument"], decision="allow")`);
    writeFileSync(join(busy.server.home, 'rules', 'many.rules'), `${rules.join('\n')}\n`);
    return command('true')(busy, folder);
  },
  'a config.toml of 250 KB': async ({ server: { heddle, home } }, folder) => {
    const profiles = Array.from({ length: 8_000 }, (_, index) => `[profiles.p${index}]\nmodel = "m${index}"\n`).join('');
    appendFileSync(join(home, 'config.toml'), existsSync(join(folder, '..', 'configured')) ? '' : profiles);
    writeFileSync(join(folder, '..', 'configured'), '');
    return () => heddle.request('thread/start', { cwd: folder });
  },
  'an image of 10 MB': async ({ server: { heddle } }, folder) => {
    const path = join(folder, 'f.png');
    writeFileSync(path, Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(10 * MB, 'abc')]));
    const { thread } = await heddle.request('thread/start', { cwd: folder });
    return () => heddle.turn(thread.id, [{ type: 'localImage', path }]);
  },
  'an input of 1 MB': async ({ server: { heddle } }, folder) => {
    const { thread } = await heddle.request('thread/start', { cwd: folder });
    return () => heddle.turn(thread.id, text('$skill é '.repeat(100_000)));
  },
  '20 MB in requests': async ({ server: { heddle } }, folder) => {
    const { thread } = await heddle.request('thread/start', { cwd: folder });
    const items = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'some text\n'.repeat(200_000) }] }];
    return async () => {
      for (let times = 0; times < 10; times++) await heddle.request('thread/inject_items', { threadId: thread.id, items });
    };
  },
  'a list of 100 threads with long names': async ({ server: { heddle } }, folder) => {
    for (let index = 0; index < 100; index++) {
      const { thread } = await heddle.request('thread/start', { cwd: folder });
      await heddle.turn(thread.id, 'x'.repeat(10_000));
    }
    return () => heddle.request('thread/list', { limit: 100 });
  },
};
