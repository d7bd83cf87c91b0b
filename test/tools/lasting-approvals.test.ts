import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TestServer } from '../support/test-server.ts';
import { commandServer, completed, FREE_CONFIG } from './command-server.ts';
import { type Answers, acceptWords, always, decline, questionsAbout } from './questions.ts';

/**
 * A configuration in which every command that is not known to be harmless needs approval, and runs
 * without a sandbox.
 */
const ASKING = FREE_CONFIG.replace('"never"', '"untrusted"');

async function threadIn(server: TestServer, cwd: string): Promise<string> {
  mkdirSync(cwd, { recursive: true });
  return (await server.client.request('thread/start', { cwd })).thread.id;
}

const rulesFile = ({ home }: TestServer, name: string) => join(home, 'rules', name);
const warnings = ({ client }: TestServer) =>
  client.notifications('warning').map(({ message }) => message);

describe('"always"', () => {
  test('holds for exactly these words, in this project', async () => {
    const server = await commandServer([], { config: ASKING });
    expect(
      await questionsAbout(server, ['touch x', 'touch x', 'touch x y', 'touch'], (question) =>
        always(question),
      ),
    ).toHaveLength(3);
    rmSync(rulesFile(server, 'default.rules'));
    rmSync(rulesFile(server, 'heddle-accepted.jsonl'));

    expect(await questionsAbout(server, ['touch x'], always)).toHaveLength(1);
    expect(
      await questionsAbout(server, ['touch x', 'touch x y', 'touch x && touch x'], decline),
    ).toMatchObject([{ command: expect.stringContaining('touch x y') }]);
    const other = await threadIn(server, join(server.folder, 'other'));
    expect(await questionsAbout(server, ['touch x'], decline, other)).toHaveLength(1);
    expect(existsSync(join(server.folder, 'other', 'x'))).toBe(false);
    // The same thread, in a repository that it did not start in.
    mkdirSync(join(server.cwd, 'nested', '.git', 'refs'), { recursive: true });
    expect(
      await questionsAbout(server, [['touch x', { workdir: join(server.cwd, 'nested') }]], decline),
    ).toHaveLength(1);
    expect(
      await questionsAbout(server, [['touch x', { workdir: server.cwd }]], decline),
    ).toHaveLength(0);
  });

  test('holds in the project that the command had when it was shown', async () => {
    const server = await commandServer([], { config: ASKING });
    const sub = join(server.cwd, 'sub');
    mkdirSync(sub);
    await questionsAbout(server, [['touch x', { workdir: sub }]], (question) => {
      mkdirSync(join(sub, '.git', 'refs'), { recursive: true });
      return always(question);
    });
    expect(readFileSync(rulesFile(server, 'heddle-accepted.jsonl'), 'utf8')).toContain(
      `"project":${JSON.stringify(server.cwd)}}`,
    );
  });

  test('holds in a project whose path has links, and in its subfolders', async () => {
    const server = await commandServer([], { config: ASKING });
    mkdirSync(join(server.cwd, '.git', 'refs'), { recursive: true });
    mkdirSync(join(server.cwd, 'sub'));
    await questionsAbout(server, ['touch x'], always);
    const below = await threadIn(server, join(server.cwd, 'sub'));
    expect(await questionsAbout(server, ['touch x'], decline, below)).toHaveLength(0);
  });

  test('is stored for the user only: the rule as other agents read it, and the line that narrows it', async () => {
    const server = await commandServer([], { config: ASKING });
    await questionsAbout(server, ['touch x'], always);
    const other = await threadIn(server, join(server.folder, 'other'));
    await questionsAbout(server, ['touch x'], always, other);
    expect(readFileSync(rulesFile(server, 'default.rules'), 'utf8')).toBe(
      'prefix_rule(pattern=["touch", "x"], decision="allow")\n',
    );
    expect(readFileSync(rulesFile(server, 'heddle-accepted.jsonl'), 'utf8')).toBe(
      `{"words":["touch","x"],"exact":true,"beyond":false,"project":${JSON.stringify(server.cwd)}}\n` +
        `{"words":["touch","x"],"exact":true,"beyond":false,"project":${JSON.stringify(join(server.folder, 'other'))}}\n`,
    );
    expect(statSync(rulesFile(server, 'heddle-accepted.jsonl')).mode & 0o777).toBe(0o600);
    expect(await questionsAbout(server, ['touch x'], decline)).toHaveLength(0);
    expect(await questionsAbout(server, ['touch x'], decline, other)).toHaveLength(0);
    expect(warnings(server)).toEqual([]);
  });

  test('is a prefix only if the model proposes one and the program can only print', async () => {
    const server = await commandServer([], { config: ASKING });
    const questions = await questionsAbout(
      server,
      [
        ['base64 a', { prefix_rule: ['base64'] }],
        'base64 b',
        ['touch a', { prefix_rule: ['touch'] }],
        'touch b',
      ],
      always,
    );
    expect(questions.map(({ proposedExecpolicyAmendment }) => proposedExecpolicyAmendment)).toEqual(
      [['base64'], ['touch', 'a'], ['touch', 'b']],
    );
    const other = await threadIn(server, join(server.folder, 'other'));
    expect(await questionsAbout(server, ['base64 b'], decline, other)).toHaveLength(1);
  });

  test('for a command in the sandbox does not allow it to leave the sandbox', async () => {
    const config = ASKING.replace('danger-full-access', 'workspace-write');
    const server = await commandServer([], { config });
    const escalates = { sandbox_permissions: 'require_escalated', justification: 'j' };
    expect(await questionsAbout(server, ['touch x'], always)).toHaveLength(1);
    expect(
      await questionsAbout(server, ['touch x', ['touch x', escalates]], decline),
    ).toMatchObject([{ reason: 'j' }]);
    expect(await questionsAbout(server, [['touch x', escalates]], always)).toHaveLength(1);
    expect(await questionsAbout(server, ['touch x', ['touch x', escalates]], decline)).toHaveLength(
      0,
    );
  });

  test('a rule that the user wrote keeps its meaning', async () => {
    const files = {
      'home/rules/default.rules': 'prefix_rule(pattern=["touch"], decision="allow")\n',
    };
    const server = await commandServer([], { config: ASKING, files });
    expect(await questionsAbout(server, ['touch x', 'touch y z'], decline)).toHaveLength(0);
    // Accepting the same words for a command that it does not cover does not narrow it.
    await questionsAbout(server, ['touch x > y'], () => acceptWords('touch'));
    expect(existsSync(rulesFile(server, 'heddle-accepted.jsonl'))).toBe(false);
    const other = await threadIn(server, join(server.folder, 'other'));
    expect(await questionsAbout(server, ['touch y z'], decline, other)).toHaveLength(0);
  });

  test('after the rule is removed, accepting it in another project does not bring it back', async () => {
    const server = await commandServer([], { config: ASKING });
    await questionsAbout(server, ['touch x'], always);
    writeFileSync(rulesFile(server, 'default.rules'), '');
    expect(await questionsAbout(server, ['touch x'], decline)).toHaveLength(1);
    const other = await threadIn(server, join(server.folder, 'other'));
    await questionsAbout(server, ['touch x'], always, other);
    expect(await questionsAbout(server, ['touch x'], decline, other)).toHaveLength(0);
    expect(await questionsAbout(server, ['touch x'], decline)).toHaveLength(1);
  });
});

test('a project cannot use what was accepted in another one', async () => {
  const server = await commandServer([], { config: ASKING });
  writeFileSync(join(server.cwd, 'run.sh'), '');
  const accepted = [
    'tar cf a.tar x',
    'sort f',
    'cp a b',
    'make',
    'npm test',
    'touch x',
    './run.sh',
    'python3 x.py',
  ];
  const proposed = (await questionsAbout(server, accepted, always)).map(
    ({ proposedExecpolicyAmendment }) => proposedExecpolicyAmendment,
  );
  expect(proposed).toEqual([
    ['tar', 'cf', 'a.tar', 'x'],
    ['cp', 'a', 'b'],
    ['make'],
    ['npm', 'test'],
    ['touch', 'x'],
    null,
    null,
  ]);
  const hostile = await threadIn(server, join(server.folder, 'hostile'));
  const attempts = [
    'tar cf a.tar x',
    'tar cf a.tar x --checkpoint=1 --checkpoint-action=exec=./evil',
    'sort f -o /OUT',
    'cp a b -t /OUT',
    'make -f evil',
    './run.sh',
    'python3 x.py',
    'npm test',
  ];
  expect(await questionsAbout(server, attempts, decline, hostile)).toHaveLength(attempts.length);
  // Further words are not allowed in the same project either.
  const further = attempts.filter((command) => !accepted.includes(command));
  expect(await questionsAbout(server, further, decline)).toHaveLength(further.length);
});

test('a program that commands can write is never proposed', async () => {
  const server = await commandServer([], { config: ASKING });
  const commands = [
    '/tmp/evil',
    '/var/tmp/evil x',
    join(server.cwd, 'tool'),
    'bin/tool',
    '../tool',
    '/usr/bin/touch x',
  ];
  const questions = await questionsAbout(server, commands, decline);
  expect(questions.map(({ proposedExecpolicyAmendment }) => proposedExecpolicyAmendment)).toEqual([
    null,
    null,
    null,
    null,
    null,
    ['/usr/bin/touch', 'x'],
  ]);
});

describe('an amendment that was not proposed', () => {
  test('is stored exactly and for the project, and a warning says if it does not cover the command', async () => {
    const server = await commandServer([], { config: ASKING });
    await questionsAbout(server, ['touch x'], () => acceptWords('touch'));
    expect(warnings(server)).toEqual([
      `The rule is stored, but it does not cover this command: it allows only \`touch\`, in ${server.cwd}. ` +
        'The command will need approval again.',
    ]);
    expect(completed(server)).toMatchObject([{ status: 'completed' }]);
    expect(await questionsAbout(server, ['touch x', 'touch'], decline)).toHaveLength(1);
  });

  test('does not override a rule that requires approval, and a warning says so', async () => {
    const files = {
      'home/rules/mine.rules': 'prefix_rule(pattern=["touch"], decision="prompt")\n',
    };
    const server = await commandServer([], { config: ASKING, files });
    const questions = await questionsAbout(server, ['touch x', 'touch x'], () =>
      acceptWords('touch', 'x'),
    );
    expect(questions).toMatchObject([
      { proposedExecpolicyAmendment: null },
      { proposedExecpolicyAmendment: null },
    ]);
    expect(warnings(server)[0]).toBe(
      'The rule is stored, but another rule requires approval for this command. The command will need approval again.',
    );
  });

  test('may name a program of the workspace', async () => {
    const server = await commandServer([], { config: ASKING });
    await questionsAbout(server, ['./run.sh'], () => acceptWords('./run.sh'));
    expect(warnings(server)).toEqual([]);
    expect(await questionsAbout(server, ['./run.sh', './run.sh x'], decline)).toHaveLength(1);
  });

  test('is not stored if it has no words or an empty one: the command runs, and clients get a warning', async () => {
    const server = await commandServer([], { config: ASKING });
    await questionsAbout(server, ['touch x'], () => acceptWords());
    await questionsAbout(server, ['touch x ""'], () => acceptWords('touch', ''));
    expect(warnings(server)).toHaveLength(2);
    expect(warnings(server)[0]).toContain(
      'a rule needs at least one word, and no word may be empty',
    );
    expect(existsSync(join(server.home, 'rules'))).toBe(false);
  });
});

describe('if heddle-accepted.jsonl', () => {
  test('has an invalid line, every command needs approval, and the question names the line', async () => {
    const files = {
      'home/rules/default.rules': 'prefix_rule(pattern=["touch", "x"], decision="allow")\n',
      'home/rules/heddle-accepted.jsonl': '\n{"words":["touch","x"],"exact":true}\n',
    };
    const server = await commandServer([], { config: ASKING, files });
    const path = rulesFile(server, 'heddle-accepted.jsonl');
    expect((await server.client.waitFor('configWarning')).summary).toContain(
      `${path}:2: expected {"words"`,
    );
    const [question] = await questionsAbout(server, ['touch x'], decline);
    expect(question?.reason).toContain(`${path}:2`);
  });

  test('cannot be read, every command needs approval', async () => {
    const server = await commandServer([], {
      config: ASKING,
      files: { 'home/rules/heddle-accepted.jsonl/x': '' },
    });
    const [question] = await questionsAbout(server, ['ls'], decline);
    expect(question?.reason).toContain('heddle-accepted.jsonl');
  });

  test('cannot be written, no rule is stored', async () => {
    const server = await commandServer([], { config: ASKING });
    const answers: Answers = (question) => {
      mkdirSync(rulesFile(server, 'heddle-accepted.jsonl'), { recursive: true });
      return always(question);
    };
    await questionsAbout(server, ['touch x'], answers);
    expect(warnings(server)).toMatchObject([
      expect.stringMatching(/^The rule could not be stored/),
    ]);
    expect(existsSync(rulesFile(server, 'default.rules'))).toBe(false);
    expect(completed(server)).toMatchObject([{ status: 'completed' }]);
  });
});
