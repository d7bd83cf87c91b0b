// @module-tag slow
import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HOSTILE_ENTRIES } from '../base/files/hostile-entries.ts';
import { type HeddleProcess, type Place, place, startHeddle } from './support.ts';

/** The number of workspaces, and the seed that they are made from. */
const WORKSPACES = Number(process.env.HOSTILE_WORKSPACES ?? 40);
const SEED = Number(process.env.HOSTILE_SEED ?? 20_261_122);
/** How long a server may take for a thread and a turn with a command. It takes well below 1 s. */
const ENDED_MS_MAX = 10_000;
/** The memory levels off at about 65 MB, after some hundred workspaces. */
const GROWN_MB_MAX = 80;

/** The paths in a workspace that heddle reads, or that lead to others that it reads. */
const IN_WORKSPACE = [
  ...[
    '.git',
    '.git/HEAD',
    '.git/config',
    '.git/commondir',
    '.git/packed-refs',
    '.git/refs/heads/main',
    '.git/hooks',
  ],
  ...[
    'tree',
    'tree/HEAD',
    'tree/config',
    'tree/commondir',
    'tree/gitdir',
    'sub/.git',
    'sub/.git/config',
    'sub/.git/commondir',
  ],
  ...[
    'AGENTS.md',
    'AGENTS.override.md',
    '.agents',
    '.agents/skills',
    '.agents/skills/s',
    '.agents/skills/s/SKILL.md',
  ],
  ...['.codex', '.codex/config.toml'],
];
const IN_HOME = ['AGENTS.md', 'AGENTS.override.md', 'skills', 'skills/s', 'skills/s/SKILL.md'];
const RULES = ['rules', 'rules/x.rules'];

/** Contents that a reader may not expect, and contents that lead it to other paths. */
const CONTENTS: Record<string, string> = {
  nothing: '',
  'a NUL': 'gitdir: tree\0x\n',
  'a NUL in a path': '../a\0b\n',
  'a folder': 'gitdir: tree\n',
  'a folder above': '..\n',
  'a path that is too long': `gitdir: ${'a/'.repeat(5000)}\n`,
  'a path through a file': 'gitdir: AGENTS.md/x\n',
  'an endless device': 'gitdir: /dev/zero\n',
  'a folder of the kernel': '/proc/self/root\n',
  'a ref': 'ref: refs/heads/main\n',
  'a ref with a NUL': 'ref: refs/heads/\0\n',
  'one long line': `[remote "origin"] url = ${'x'.repeat(1_000_000)}`,
  'many quotes': `[core "${'\\"'.repeat(400_000)}`,
  'many backslashes': `[core]\n${'\\\n'.repeat(300_000)}`,
  'front matter': `---\nname: s\ndescription: &a [${'*a,'.repeat(5000)}]\n---\n`,
  'front matter without end': `---\n${'a: b\n'.repeat(100_000)}`,
  'bytes that are not UTF-8': String.fromCharCode(0xd800).repeat(1000),
};

type Entry = [path: string, kind: string];

const kinds = fc.constantFrom(
  ...Object.keys(HOSTILE_ENTRIES),
  ...Object.keys(CONTENTS).map((name) => `text: ${name}`),
);
const entriesAt = (paths: string[]) =>
  fc.uniqueArray(fc.tuple(fc.constantFrom(...paths), kinds), {
    maxLength: 8,
    size: 'max',
    selector: ([path]) => path,
  });
const worlds = fc.record({
  workspace: entriesAt(IN_WORKSPACE),
  home: entriesAt(IN_HOME),
  rules: fc.oneof(
    { arbitrary: fc.constant<Entry[]>([]), weight: 3 },
    { arbitrary: entriesAt(RULES), weight: 1 },
  ),
  trusted: fc.boolean(),
});

/**
 * Creates the entries, shallow paths first. Omits an entry if its parent is not a folder or its
 * path is taken.
 */
function makeEntries(folder: string, entries: readonly Entry[]): Entry[] {
  return entries
    .toSorted(([a], [b]) => a.length - b.length)
    .filter(([path, kind]) => makeEntry(join(folder, path), kind));
}

function makeEntry(path: string, kind: string): boolean {
  try {
    mkdirSync(dirname(path), { recursive: true });
    if (!lstatSync(dirname(path)).isDirectory()) return false;
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return false;
  } catch {
    return false;
  }
  const content = CONTENTS[kind.replace('text: ', '')];
  if (kind.startsWith('text: ')) writeFileSync(path, content ?? '');
  else HOSTILE_ENTRIES[kind]?.(path);
  return true;
}

/** Removes an entry, and the target of the link that it may be. */
function removeEntry(path: string): void {
  for (const each of [path, `${path}.target`]) rmSync(each, { recursive: true, force: true });
}

function config(workspace: string, trusted: boolean): string {
  const trust = trusted ? `[projects.${JSON.stringify(workspace)}]\ntrust_level = "trusted"\n` : '';
  return `sandbox_mode = "workspace-write"\napproval_policy = "never"\n${trust}`;
}

/**
 * Starts a thread and a turn with a command. Returns the output of the command, or why it did not
 * run: a project's own configuration is not valid, or a rules file is not.
 */
async function commandOutput(heddle: HeddleProcess, cwd: string): Promise<string> {
  const started = await heddle
    .request('thread/start', { cwd })
    .catch((error: unknown) => String(error));
  if (typeof started === 'string') return started;
  const turn = await heddle.turn(started.thread.id, 'call exec_command {"cmd": "echo ran"}');
  expect(turn.status).toBe('completed');
  const [command] = heddle
    .notifications('item/completed')
    .flatMap(({ item }) => (item.type === 'commandExecution' ? [item] : []));
  const [told] = heddle
    .notifications('item/completed')
    .flatMap(({ item }) => (item.type === 'agentMessage' ? [item.text] : []));
  await heddle.request('thread/delete', { threadId: started.thread.id });
  heddle.messages.length = 0;
  return command?.aggregatedOutput ?? told ?? '';
}

test('a server goes on in hostile workspaces', {
  timeout: (WORKSPACES + 2) * ENDED_MS_MAX,
}, async () => {
  const where: Place = place({ 'config.toml': config('/', false) });
  const heddle = await startHeddle(where, { errorsLogged: true });
  expect(await commandOutput(heddle, where.work)).toBe('ran\n');
  const before = heddle.memory().now;
  let count = 0;
  const property = fc.asyncProperty(worlds, async (world) => {
    const folder = join(where.work, `w${count++}`);
    mkdirSync(folder);
    writeFileSync(join(where.home, 'config.toml'), config(folder, world.trusted));
    const made = {
      work: makeEntries(folder, world.workspace),
      home: makeEntries(where.home, [...world.home, ...world.rules]),
    };
    const from = performance.now();
    const output = await commandOutput(heddle, folder);
    const round = {
      ...made,
      output,
      ms: performance.now() - from,
      grownMb: heddle.memory().peak - before,
    };
    for (const name of ['AGENTS.md', 'AGENTS.override.md', 'skills', 'rules'])
      removeEntry(join(where.home, name));
    rmSync(folder, { recursive: true });
    expect(round).toMatchObject({
      output: expect.stringMatching(expectedOutput(folder, made.home)),
    });
    expect(round).toSatisfy(
      ({ ms, grownMb }: typeof round) => ms < ENDED_MS_MAX && grownMb < GROWN_MB_MAX,
    );
  });
  await fc.assert(property, { numRuns: WORKSPACES, seed: SEED, endOnFailure: true });
});

/**
 * The command runs, unless a rules file cannot be read, or the refusal names a place in the
 * workspace.
 */
function expectedOutput(folder: string, home: readonly Entry[]): RegExp {
  const refusal = `(invalid config: |^)${folder}/`;
  return new RegExp(
    home.some(([path]) => path.startsWith('rules'))
      ? `^ran\n$|${refusal}|rules`
      : `^ran\n$|${refusal}`,
  );
}
