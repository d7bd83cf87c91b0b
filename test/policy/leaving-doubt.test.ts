import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LeavingFacts, leavingDoubt } from '../../src/policy/outside/leaving-doubt.ts';
import { possibleFolders, possiblePaths } from '../../src/policy/outside/named-paths.ts';
import { plainGit } from '../../src/policy/outside/plain-git.ts';
import type { RepositoryFacts } from '../../src/policy/outside/repository-facts.ts';
import { parseCommand } from '../../src/policy/parse/parse-command.ts';

const REPOSITORY: RepositoryFacts = {
  root: '/ws',
  own: '/ws/.git',
  shared: '/ws/.git',
  isComplete: true,
  settings: [
    { section: 'core', subsection: null, key: 'bare', value: 'false' },
    { section: 'remote', subsection: 'origin', key: 'url', value: 'https://example.org/x.git' },
    { section: 'branch', subsection: 'main', key: 'remote', value: 'origin' },
  ],
  hookFolders: ['/ws/.git/hooks'],
  hooks: [],
  hasSubmodules: false,
};

interface Given extends Partial<LeavingFacts> {
  cwd?: string;
  repository?: Partial<RepositoryFacts>;
}

/** The doubt about a script. Links only where `realPaths` has them. */
async function doubt(
  script: string,
  {
    cwd = '/ws',
    repository = {},
    roots = ['/ws'],
    realPaths = new Map(),
    variable = null,
  }: Given = {},
) {
  const command = await parseCommand(['bash', '-lc', script]);
  const folders = possibleFolders(command.commands ?? [], [cwd, realPaths.get(cwd) ?? cwd]);
  const named = (command.commands ?? []).flatMap(({ words }, index) =>
    possiblePaths(words, folders[index] ?? []),
  );
  const all = [...folders.flatMap((some) => some ?? []), ...named];
  const repositories = new Map(all.map((path) => [path, { ...REPOSITORY, ...repository }]));
  return leavingDoubt(command, cwd, {
    roots,
    realPaths: new Map([...all.map((path) => [path, path] as const), ...realPaths]),
    repositories,
    hasUnreadSettings: false,
    variable,
  });
}

const setting = (name: string, value: string | null) => {
  const [section = '', ...rest] = name.split('.');
  const key = rest.pop() ?? '';
  return { section, subsection: rest.length === 0 ? null : rest.join('.'), key, value };
};

describe('git leaves the sandbox', () => {
  test.each<[string, Given]>([
    ['git status', {}],
    ['git add -A && git commit -m x', {}],
    ['git add x && git commit -q -s -m "a message" --author "A <a@b>" && git push', {}],
    ['git commit -am x', {}],
    ['cd /ws && git diff && uptime', {}],
    ['git push -u origin main', {}],
    ['git log --oneline -5 | head', {}],
    ['gh pr create --title x --body y', {}],
    // The git folder of a worktree, whose repository is elsewhere.
    [
      'git status',
      {
        repository: {
          own: '/repo/.git/worktrees/a',
          shared: '/repo/.git',
          hookFolders: ['/repo/.git/hooks'],
        },
      },
    ],
    // The workspace is outside the folders that can be written.
    ['git status', { cwd: '/ws/sub', roots: ['/other'] }],
    [
      'git status',
      {
        repository: { settings: [setting('remote.a.url', '/srv/a.git')] },
        realPaths: new Map([['/srv/a.git', '/srv/a.git']]),
      },
    ],
    ...['https://h/x', 'ssh://git@h/x', 'git@h:x/y.git', 'h:x'].map((url): [string, Given] => [
      'git fetch a',
      { repository: { settings: [setting('remote.a.url', url)] } },
    ]),
  ])('%s %j', async (script, given) => {
    expect(await doubt(script, given)).toBeNull();
  });
});

describe('git does not leave the sandbox', () => {
  test.each<[string, Given]>([
    ['git status', { cwd: '/ws/sub' }],
    ['git status', { roots: ['/ws', '/'] }],
    ['git status', { roots: ['/ws', '/ws/.git'] }],
    ['git status', { realPaths: new Map([['/ws', '/tmp/x']]), roots: ['/tmp'] }],
    ['git status', { variable: 'GIT_DIR' }],
    ['git status', { repository: { root: '/' } }],
    ['git status', { repository: { own: '/ws/sub/.git/worktrees/a' } }],
    ['git status', { repository: { shared: '/ws/data' } }],
    ['git status', { repository: { hookFolders: ['/ws/.git/hooks', '/ws/hooks'] } }],
    ['git status', { repository: { hooks: ['post-index-change'] } }],
    ['git status', { repository: { hasSubmodules: null } }],
    ['git status', { repository: { settings: null } }],
    ['git add -A && git status', {}],
    ['git add x; git commit -am x', {}],
    ['git add x && git commit --amend --no-edit', {}],
    ['git add x && git commit -m x && git commit -m y', {}],
    ['git add x && git commit -m x file', {}],
    ['git add x && git commit', {}],
    ['git fetch && git diff', {}],
    ['sleep 9; git status', {}],
    ['git add x; sleep 9; git commit -m x', {}],
    ['git fetch upstream', {}],
    ['git fetch https://example.org/other', {}],
    ['cd "-" && git status', {}],
    ['cd && git status', {}],
    ['cd sub; git status', {}],
    ['gh alias set x "!./evil"', {}],
    ['gh repo clone a/b -- --upload-pack=./evil', {}],
    ...[
      'core.fsmonitor',
      'core.worktree',
      'core.hookspath',
      'core.sshcommand',
      'core.pager',
      'alias.status',
      'filter.x.clean',
    ].map((name): [string, Given] => [
      'git status',
      { repository: { settings: [setting(name, 'x')] } },
    ]),
    ...[
      'diff.external',
      'diff.x.textconv',
      'merge.x.driver',
      'remote.origin.uploadpack',
      'url.x.insteadof',
      'include.path',
    ].map((name): [string, Given] => [
      'git status',
      { repository: { settings: [setting(name, 'x')] } },
    ]),
    ...[
      'ext::sh evil.sh',
      './sub',
      '../x',
      '/ws/sub',
      'file:///ws/sub',
      'sub/x:y',
      '-x:y',
      'ssh://-oProxyCommand=x/y',
      'foo::bar',
      '',
    ].map((url): [string, Given] => [
      'git status',
      { repository: { settings: [setting('remote.a.url', url)] } },
    ]),
    ['git status', { repository: { settings: [setting('core.bare', 'true')] } }],
    ['git fetch', { repository: { settings: [setting('branch.main.remote', './sub')] } }],
  ])('%s %j', async (script, given) => {
    expect(await doubt(script, given)).not.toBeNull();
  });
});

test.each<[string, boolean, Given?]>([
  ['uptime', true],
  ['touch /ws/a && ls', true],
  ['cp /etc/a /etc/b', true],
  ['cp /etc/a b', false],
  ['rm -rf /ws/build', false],
  ['rm -rf /opt/build', true],
  ['rm -rf /opt/build', false, { realPaths: new Map([['/opt/build', '/ws/build']]) }],
  ['make', false],
  ['make', true, { cwd: '/opt' }],
  ['make -C /ws', false, { cwd: '/opt' }],
  ['make --directory=/ws', false, { cwd: '/opt' }],
  ['make -C/ws', false, { cwd: '/opt' }],
  ['sh -c "cd /ws && ./x"', false, { cwd: '/opt' }],
  ['cat /ws/x | sh', false, { cwd: '/opt' }],
  ['cd /ws && uptime && make', false, { cwd: '/opt' }],
  ['find . -exec ./x', false],
  ['sort --compress-program=./x f', false],
  ['rg --pre ./x y', false],
  ['/ws/tool', false, { cwd: '/opt' }],
  ['./ls', false],
])('%s leaves: %j %j', async (script, leaves, given = {}) => {
  expect((await doubt(script, given)) === null).toBe(leaves);
});

/** Options that make git run a program, or use another repository. */
const DANGEROUS =
  /^-(?:-config-env|-git-dir|-work-tree|-exec|-upload-pack|-receive-pack|-ext-diff|-textconv|-no-index|-open-files|-recurse|-edit|-strategy|-template|-gpg-sign|-server-option|-repo)/;

test('a plain git command has a known subcommand first, and none of the options that start programs', () => {
  const subcommands =
    'add blame branch checkout commit diff fetch log merge pull push reset show stash status switch tag'.split(
      ' ',
    );
  const dangerous = [
    ...'--config-env=a=b --git-dir=x --work-tree=x --exec=x --exec --upload-pack=x --upload-pack --receive-pack=x --ext-diff'.split(
      ' ',
    ),
    ...'--textconv --no-index --open-files-in-pager=x --recurse-submodules --edit --strategy=x --template=x --gpg-sign=x --repo=x'.split(
      ' ',
    ),
    ...'--upload-p --receive-p --ext -Ox -O -X --paginate -p'.split(' '),
  ];
  const word = fc.oneof(
    fc.constantFrom(...dangerous),
    fc.constantFrom('-a', '-m', 'x', '--', '-v', '--all', '.', 'HEAD'),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...subcommands),
      fc.array(word, { maxLength: 2 }),
      (subcommand, args) => {
        expect(plainGit(['-c', 'x=y', subcommand, ...args])).toBeNull();
        if (args.some((arg) => DANGEROUS.test(arg)))
          expect(plainGit([subcommand, ...args])).toBeNull();
      },
    ),
    { seed: 7, numRuns: 5000 },
  );
});
