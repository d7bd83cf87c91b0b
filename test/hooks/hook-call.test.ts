import { expect, test } from 'vitest';
import { hookCall, withInput } from '../../src/hooks/hook-call.ts';

const use = (tool: string, args: Parameters<typeof hookCall>[0]['args'], namespace: string | null = null) => ({ tool, namespace, args });

test.each([
  ['exec_command', { cmd: 'ls', tty: true }, 'Bash', { command: 'ls' }],
  ['shell_command', { command: 'ls' }, 'Bash', { command: 'ls' }],
  ['shell', { command: ['bash', '-lc', 'ls; pwd'] }, 'Bash', { command: 'ls; pwd' }],
  ['local_shell', { command: ['ls', '-l'] }, 'Bash', { command: 'ls -l' }],
  // The tool ignores the field of another one, so a hook must not be shown it.
  ['shell_command', { cmd: 'ls', command: 'rm -rf x' }, 'Bash', { command: 'rm -rf x' }],
  ['exec_command', { cmd: 'rm -rf x', command: 'ls' }, 'Bash', { command: 'rm -rf x' }],
  ['apply_patch', 'the patch', 'apply_patch', { command: 'the patch' }],
  ['apply_patch', { input: 'the patch' }, 'apply_patch', { command: 'the patch' }],
  ['update_plan', { plan: [] }, 'update_plan', { plan: [] }],
  ['free_form', 'text', 'free_form', { input: 'text' }],
])('hooks see %s(%j) as %s', (tool, args, name, input) => {
  expect(hookCall(use(tool, args))).toMatchObject({ name, input });
});

test('the tool of an MCP server has the name of its server', () => {
  expect(hookCall(use('read', {}, 'mcp__files'))).toMatchObject({ name: 'mcp__files__read', names: ['mcp__files__read'] });
  expect(hookCall(use('look', {}, 'mine'))).toMatchObject({ name: 'look' });
});

test.each([
  ['exec_command', { cmd: 'ls', tty: true }, { cmd: 'pwd', tty: true }],
  ['shell', { command: ['ls'], workdir: '/' }, { command: ['bash', '-lc', 'pwd'], workdir: '/' }],
  ['apply_patch', 'old', 'pwd'],
  ['apply_patch', { input: 'old' }, { input: 'pwd' }],
  ['other', { a: 1 }, { command: 'pwd' }],
])('the new input of %s', (tool, args, changed) => {
  expect(withInput(use(tool, args), { command: 'pwd' })).toEqual({ args: changed });
});

test('input that does not fit the tool is a problem', () => {
  expect(withInput(use('exec_command', { cmd: 'ls' }), { cmd: 'pwd' })).toEqual({ problem: 'updatedInput has no string "command"' });
});
