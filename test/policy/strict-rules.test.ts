import { describe, expect, test } from 'vitest';
import { parseCommand } from '../../src/policy/parse/parse-command.ts';
import type { PrefixRule } from '../../src/policy/rules/command-rules.ts';
import { strictRule } from '../../src/policy/rules/strict-rule.ts';

const forbid = (...pattern: string[][]): PrefixRule => ({
  pattern,
  decision: 'forbidden',
  justification: null,
});

async function decide(script: string | string[], ...rules: PrefixRule[]): Promise<string | null> {
  const command = await parseCommand(typeof script === 'string' ? ['bash', '-lc', script] : script);
  return strictRule(command, { rules, problems: [] })?.decision ?? null;
}

describe('a rule that forbids `git push` sees it in', () => {
  test.each([
    'git push',
    'git push origin main',
    'git status; git push',
    'git status\ngit push',
    'git status && git push || true',
    'git status | git push',
    'git status & git push',
    '\\g\\it push',
    "g''it pu'sh'",
    '"git" "push"',
    "$'\\x67it' push",
    "$'\\147\\u0069t' push",
    'gi\\\nt push',
    'GIT push',
    '/usr/bin/git push',
    './git push',
    '../../x/git push',
    'git -C dir push',
    'git -c a.b=c push',
    'git --no-pager push',
    'git --git-dir=x --work-tree y push',
    'A=1 git push',
    'git push > x',
    '2>&1 git push',
    '(git push)',
    '{ git push; }',
    'if true; then git push; fi',
    'for x in a; do git push; done',
    'f() { git push; }; f',
    '! git push',
    'time git push',
    'coproc git push',
    'echo $(git push)',
    'echo "$(git push)"',
    'echo `git push`',
    'echo "`git push`"',
    'cat <(git push)',
    'x=$(git push)',
    `echo ${'$'}{x:-$(git push)}`,
    'cat <<E\n$(git push)\nE',
    'bash <<E\ngit push\nE',
    'bash <<< "git push"',
    "bash -c 'git push'",
    "bash -lc 'git push'",
    "bash --norc -o pipefail -c 'git push'",
    "/tmp/bash -c 'git push'",
    'sh -c "sh -c \'git push\'"',
    "fish -c 'git push'",
    'eval git push',
    'eval "git push"',
    'eval "g"it push',
    "trap 'git push' EXIT",
    'env git push',
    'env -i A=1 git push',
    "env -S 'git push'",
    "env --split-string='git push'",
    '/usr/bin/env git push',
    'command git push',
    'command -p git push',
    'builtin command git push',
    'exec git push',
    'exec -a x git push',
    'nohup git push',
    'nice -n 5 git push',
    'timeout 5 git push',
    'timeout -k 1 5 git push',
    'sudo -u root git push',
    'doas git push',
    'setsid git push',
    'stdbuf -oL git push',
    'xargs git push',
    'xargs -I{} git push {}',
    "xargs sh -c 'git push'",
    'sudo env nice timeout 5 git push',
    'find . -exec git push ;',
    'find . -execdir git push {} +',
    "find . -exec sh -c 'git push' \\;",
    'fd . -x git push',
    "git -c alias.x='!git push' x",
    "git submodule foreach 'git push'",
    'busybox git push',
    'echo git push | sh',
    "echo 'git push' | bash",
    "printf '%s' 'git push' | sudo sh -s",
    "alias ls='git push'; ls",
    "tar --to-command='git push' -xf x",
    "tar --checkpoint-action=exec='git push' -cf x y",
    "rg --pre 'git push' x",
    'watch git push',
    "env -S'git push'",
    "env -iS'git push'",
    '/lib64/ld-linux-x86-64.so.2 /usr/bin/git push',
    "tar -I 'git push' -xf x",
    "rsync -e 'git push' a b",
    "mapfile -C 'git push' -c 1 a",
    "complete -C 'git push' x",
    "test -v 'a[$(git push)]'",
    "printf -v 'a[`git push`]' x",
    'parallel git push ::: a',
  ])('%j', async (script) => {
    expect(await decide(script, forbid(['git'], ['push']))).toBe('forbidden');
  });

  test('a command without a shell', async () => {
    expect(await decide(['git', 'push'], forbid(['git'], ['push']))).toBe('forbidden');
    expect(await decide(['env', 'git', 'push'], forbid(['git'], ['push']))).toBe('forbidden');
  });
});

describe('requires approval if the command may be `git push`', () => {
  test.each([
    "[ 'a[$(git push)]' -eq 1 ]",
    '$X push',
    '"$X" push',
    'g*t push',
    '/usr/bin/g?t push',
    'X=git; $X push',
    'git $X',
    'git "$X"',
    'git {push,x}',
    'git pu*',
    '"/usr/bin/$X" push',
    'python3 -c "os.system(\'git push\')"',
    'perl -e "system(qw(git push))"',
    'cat > x.sh <<E\ngit push\nE',
    'xargs git',
    `echo ${'x'.repeat(20_000)}`,
    `${'('.repeat(9000)}git push`,
  ])('%.60j', async (script) => {
    expect(await decide(script, forbid(['git'], ['push']))).toBe('prompt');
  });
});

describe('does not restrict', () => {
  test.each([
    'git status',
    'git commit -m push',
    'git log push',
    'echo git push',
    "printf '%s' 'git push'",
    'echo "git push"',
    "grep -rn 'git push' .",
    'echo $HOME',
    'ls *.txt',
    '"$HOME/bin/tool" push',
    'find "$DIR" -name x',
    'env A=$B make',
    './digit push',
    'gitk push',
    'python x.py git push',
    'cat git push | sort',
    'bash push.sh git',
    'for f in *.ts; do cat "$f"; done',
  ])('%j', async (script) => {
    expect(await decide(script, forbid(['git'], ['push']))).toBeNull();
  });
});

test('a rule of one word matches the program with any arguments', async () => {
  expect(await decide('echo x | xargs rm', forbid(['rm']))).toBe('forbidden');
  expect(await decide('git rm x', forbid(['rm']))).toBeNull();
  expect(await decide('rmdir x', forbid(['rm']))).toBeNull();
  expect(await decide("find . -name 'rm'", forbid(['rm']))).toBeNull();
  expect(await decide('find . -regex rm', forbid(['rm']))).toBeNull();
});

test('a rule for a program with its folder also matches the program alone', async () => {
  expect(await decide('deploy.sh', forbid(['./deploy.sh']))).toBe('forbidden');
  expect(await decide('bash deploy.sh', forbid(['./deploy.sh']))).toBe('forbidden');
});

test('each word may have alternatives', async () => {
  const rule = forbid(['git', 'hg'], ['push', 'send']);
  expect(await decide('hg send', rule)).toBe('forbidden');
  expect(await decide('git send', rule)).toBe('forbidden');
  expect(await decide('git pull', rule)).toBeNull();
});

describe('an option in a rule that forbids', () => {
  const push = forbid(['git'], ['push'], ['-f', '--force', '--force-with-lease']);
  const checkout = forbid(['git'], ['checkout'], ['-f']);
  const pip = forbid(['python3'], ['-m'], ['pip']);
  const container = forbid(['docker'], ['run'], ['-p', '--publish']);
  const global = forbid(['npm'], ['-g']);
  const decrypt = forbid(['openssl'], ['enc'], ['-d']);
  const cases: [string, PrefixRule, string | null][] = [
    // It is the option.
    ['git push -f', push, 'forbidden'],
    ['git push --force', push, 'forbidden'],
    ['git push --force-with-lease=main', push, 'forbidden'],
    ['git push -v -u --force origin main', push, 'forbidden'],
    ['git -C dir push -v -f origin', push, 'forbidden'],
    ['sudo git push -f', push, 'forbidden'],
    ['python3 -m pip install x', pip, 'forbidden'],
    ['python3 -I -m pip install x', pip, 'forbidden'],
    ['docker run --rm -p 80:80 img', container, 'forbidden'],
    ['docker run --publish=80:80 img', container, 'forbidden'],
    ['npm -g install x', global, 'forbidden'],
    ['openssl enc -d', decrypt, 'forbidden'],
    // Another program may get it, or it may be the value of another option.
    ['git push origin main --force', push, 'prompt'],
    ['git push origin -f', push, 'prompt'],
    ['git push -uf origin', push, 'prompt'],
    ['git push --forc', push, 'prompt'],
    ['git push $X', push, 'prompt'],
    ['git push --force=$X', push, 'prompt'],
    ['git checkout -bfix', checkout, 'prompt'],
    ['python3 tool.py -m pip', pip, 'prompt'],
    ['docker run img cp -p a b', container, 'prompt'],
    ['docker run img cp -pr a b', container, 'prompt'],
    ['openssl enc -md sha256', decrypt, 'prompt'],
    ['npm install -g x', global, 'prompt'],
    // It is no option.
    ['git checkout -- -f', checkout, null],
    ['git checkout main -- -f', checkout, null],
    ['git -C x checkout -q -- -f', checkout, null],
    ['npm run x -- -g', global, null],
    ['npm run x -- --flag -g', global, null],
    ['python3 -- -m pip', pip, null],
    ['git push -- --force', push, null],
    ['git push --follow-tags', push, null],
    ['docker run img', container, null],
  ];

  test.each(cases)('%s', async (script, rule, expected) => {
    expect(await decide(script, rule)).toBe(expected);
    // A rule that asks asks about both.
    expect(await decide(script, { ...rule, decision: 'prompt' })).toBe(
      expected === null ? null : 'prompt',
    );
  });

  test('a rule may name the end of options', async () => {
    expect(await decide('npm run x -- -g', forbid(['npm'], ['run'], ['x'], ['--']))).toBe(
      'forbidden',
    );
  });
});

test('the strictest of several rules applies, in any order', async () => {
  const prompt: PrefixRule = { ...forbid(['git']), decision: 'prompt' };
  const allow: PrefixRule = { ...forbid(['git']), decision: 'allow' };
  expect(await decide('git push', allow, prompt, forbid(['git'], ['push']))).toBe('forbidden');
  expect(await decide('git pull', allow, prompt, forbid(['git'], ['push']))).toBe('prompt');
  expect(await decide('git pull', allow)).toBeNull();
});

test('many options do not take long', async () => {
  expect(
    await decide(`git ${'-a '.repeat(150)}x`, forbid(['git'], ['push'], ['origin'])),
  ).toBeNull();
}, 2000);

test('a command after very many words of a runner, or in a very long pipeline, needs approval', async () => {
  expect(await decide(`env ${'A '.repeat(4000)}git push`, forbid(['git'], ['push']))).toBe(
    'prompt',
  );
  expect(await decide(`git ${'-a '.repeat(400)}push`, forbid(['git'], ['push']))).toBe('prompt');
  expect(await decide(`${'a|'.repeat(4000)}git push`, forbid(['git'], ['push']))).toBe('prompt');
});
