import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configWarnings } from '../../../src/config/problems/config-warnings.ts';
import { sourcesIn } from '../load.ts';
import { tempFolder } from '../temp-folder.ts';

const files = {
  'hooks/check': '#!/bin/sh\n',
  'hooks/with space': '#!/bin/sh\n',
  'hooks/text': 'no program\n',
  'hooks/check.py': 'pass\n',
};

/** The variables of a user with these files. */
function variables(): Record<string, string> {
  const userHome = tempFolder(files);
  for (const name of ['hooks/check', 'hooks/with space']) chmodSync(join(userHome, name), 0o755);
  return {
    OPENAI_API_KEY: 'k',
    HOME: userHome,
    PATH: `relative:${join(userHome, 'hooks')}:/usr/bin:/bin`,
  };
}

/** The warnings about a hook that runs a command, or about any handler. */
async function hookWarnings(
  handler: string | object,
  more = '',
  env = variables(),
): Promise<string[]> {
  const hook = typeof handler === 'string' ? { type: 'command', command: handler } : handler;
  const home = tempFolder({
    'hooks.json': JSON.stringify({ hooks: { PreToolUse: [{ hooks: [hook] }] } }),
    'config.toml': more,
  });
  const warnings = await configWarnings(sourcesIn(home, { env }));
  return warnings.map(
    ({ summary }) =>
      / cannot do its work: (.*)$/.exec(summary)?.[1]?.replace(env.HOME ?? '-', 'HOME') ?? summary,
  );
}

const GONE = 'is missing or cannot be used.';

describe('a hook whose program is missing is told when the configuration is read', () => {
  test.each([
    ['no-such-program', 'the program no-such-program'],
    ['no-such-program --flag "$X"', 'the program no-such-program'],
    ['/no/such/program', 'the program /no/such/program'],
    ['~/hooks/gone', 'the program HOME/hooks/gone'],
    ['$HOME/hooks/gone --x', 'the program HOME/hooks/gone'],
    ['"$HOME/hooks/gone or not" x', 'the program HOME/hooks/gone or not'],
    [`"$\{HOME}/hooks/gone"`, 'the program HOME/hooks/gone'],
    ["'/no such/program'", 'the program /no such/program'],
    ['A=1 B=x/y no-such-program', 'the program no-such-program'],
    ['exec ~/hooks/gone', 'the program HOME/hooks/gone'],
    ['env A=1 no-such-program', 'the program no-such-program'],
    ['no-such-program || exit 2', 'the program no-such-program'],
    ['no-such-program|cat', 'the program no-such-program'],
    ['~/hooks/text', 'the program HOME/hooks/text (not executable: run chmod +x)'],
    ['text', 'the program text'],
    ['~/hooks', 'the program HOME/hooks'],
    ['sh ~/hooks/gone.sh', 'the script HOME/hooks/gone.sh'],
    ['/bin/sh /no/such.sh x', 'the script /no/such.sh'],
  ])('%s', async (command, what) => {
    expect(await hookWarnings(command)).toEqual([`${what} ${GONE}`]);
  });

  test('an MCP server that is not configured', async () => {
    const hook = { type: 'mcp_tool', server: 'checks', tool: 'look', input: {} };
    expect(await hookWarnings(hook)).toEqual([`the MCP server checks ${GONE}`]);
    expect(await hookWarnings(hook, '[mcp_servers.checks]\ncommand = "true"\n')).toEqual([]);
  });
});

describe('nothing is told of a hook whose program is there, or cannot be told without running it', () => {
  test.each([
    'check',
    'cat',
    '/bin/sh',
    '~/hooks/check --x',
    '"$HOME/hooks/with space"',
    'A=1 ~/hooks/check',
    'sh ~/hooks/text',
    'sh -c no-such-program',
    'sh',
    'cd /no/such/folder && gone',
    '[ -f x ] || gone',
    'if true; then gone; fi',
    '! gone',
    '{ gone; }',
    '(gone)',
    '$TOOL/gone',
    '`gone`',
    'go"ne"',
    'gone*',
    'f() { :; }; f',
    // The folder of a user's hook is that of the thread.
    './gone',
    'scripts/gone',
    'sh gone.sh',
    'command -v gone',
    '"" x',
  ])('%s', async (command) => {
    expect(await hookWarnings(command)).toEqual([]);
  });

  test('without a home folder, and without hooks', async () => {
    const { HOME: _, ...without } = variables();
    expect(await hookWarnings('~/hooks/gone', '', without)).toEqual([]);
    expect(await hookWarnings('no-such-program', 'features.hooks = false\n')).toEqual([]);
    expect(await hookWarnings({ type: 'prompt', prompt: 'Fine?' })).toEqual([]);
  });
});
