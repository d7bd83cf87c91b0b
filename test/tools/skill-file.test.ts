import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseCommand } from '../../src/policy/parse/parse-command.ts';
import { skillFile } from '../../src/tools/command/skill-file.ts';
import { tempFolder } from '../config/temp-folder.ts';

const TOO_MANY = 'a file of a skill: it names more files than heddle can examine';
const FILES = { 'SKILL.md': '', 'scripts/go.sh': '', 'more.md': '' };

function place(home = 'home') {
  const files = Object.entries(FILES).map(([path, text]) => [
    `${home}/.agents/skills/mine/${path}`,
    text,
  ]);
  const folder = realpathSync(
    tempFolder({ ...Object.fromEntries(files), 'work/own.sh': '', 'work/src/mine/other.sh': '' }),
  );
  const skill = join(folder, home, '.agents', 'skills', 'mine');
  const env = {
    HOME: join(folder, home),
    CODEX_HOME: join(folder, home, '.agents'),
    PATH: '/usr/bin',
  };
  /** The file of the skill that a script may run. */
  const found = async (script: string, cwd = join(folder, 'work')) => {
    const command = await parseCommand(['bash', '-lc', script]);
    const file = await skillFile({ command, cwd, env }, [skill]);
    return file?.replace(skill, 'mine').replace(', which belongs to a skill', '') ?? null;
  };
  return { found, skill };
}

describe('what a command may run of a skill', () => {
  test.each([
    ['sh ~/.agents/skills/mine/scripts/go.sh', 'mine/scripts/go.sh'],
    ['cd ~/.agents/skills/mine && sh scripts/go.sh', 'mine/scripts/go.sh'],
    ['python3 "$HOME/.agents/skills/mine/scripts/go.sh" --all', 'mine/scripts/go.sh'],
    [`sh "\${HOME}"/.agents/skills/mine/scripts/go.sh`, 'mine/scripts/go.sh'],
    ['sh $CODEX_HOME/skills/mine/scripts/go.sh', 'mine/scripts/go.sh'],
    ['X=1 bash -c "sh ~/.agents/skills/mine/scripts/go.sh"', 'mine/scripts/go.sh'],
    ["sh -c 'sh ~/.agents/skills/mine/scripts/go.sh'", 'mine/scripts/go.sh'],
    ["env A=b sh -c 'cd $HOME/.agents/skills/mine && sh scripts/go.sh'", 'mine'],
    ['D=~/.agents/skills; sh $D/mine/scripts/go.sh', 'mine/scripts/go.sh'],
    ['sh "$PWD/../home/.agents/skills/mine/scripts/go.sh"', 'mine/scripts/go.sh'],
    ['cd ~/.agents/skills/mine && sh $PWD/scripts/go.sh', 'mine'],
    ['cd $D/mine && sh scripts/go.sh', 'mine'],
    ['cd $D; cd mine; sh scripts/go.sh', 'mine'],
    ['cd - && sh mine/scripts/go.sh', 'mine/scripts/go.sh'],
    ['for f in ~/.agents/skills/mine/scripts/*.sh; do sh $f; done', 'mine/scripts'],
    ['sh ../home/.agents/skills/mine/scripts/g?.sh', 'mine/scripts'],
    ['cat ~/.agents/skills/mine/SKILL.md', null],
    ['cat ~/.agents/skills/mine/more.md && ls ~/.agents/skills/mine', null],
    ['echo "$X" > src/mine/new.sh', null],
    ['for f in src/mine/*.c; do test -f $f; done; sh own.sh', 'mine'],
    ['npm run mine | while read line; do echo "$line"; done', null],
    ['sh src/mine/other.sh', null],
    ['sh "$X"/src/mine/other.sh', null],
    ['sh own.sh ~/other "$HOME"', null],
  ])('%s', async (script, expected) => {
    expect(await place().found(script)).toBe(expected);
  });

  test('a home with a space', async () => {
    expect(await place('my home').found('sh ~/.agents/skills/mine/scripts/go.sh')).toBe(
      'mine/scripts/go.sh',
    );
  });

  test('a pattern in the skill, and a file of its folder', async () => {
    const { found, skill } = place();
    expect(await found('for f in *.sh; do sh $f; done', join(skill, 'scripts'))).toBe(
      'mine/scripts',
    );
    expect(await found('sh scripts/go.sh', skill)).toBe('mine/scripts/go.sh');
  });

  test('more paths than can be examined, and a long script', async () => {
    const { found } = place();
    const words = Array.from({ length: 3_000 }, (_, index) => `f${index}`).join(' ');
    expect(await found(`python3 ${words} ../home/.agents/skills/mine/scripts/go.sh`)).toBe(
      TOO_MANY,
    );
    expect(await found(`python3 - <<'END'\n${'x'.repeat(70_000)}\nEND`)).toBe(TOO_MANY);
  });
});
