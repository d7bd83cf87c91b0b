import { expect, test } from 'vitest';
import { hookCall, type ToolUse, withInput } from '../../src/hooks/hook-call.ts';

const COMMANDS = ['exec_command', 'shell_command', 'shell', 'local_shell'];

/** A call of a built-in tool. */
function use(tool: string, args: ToolUse['args']): ToolUse {
  const form = COMMANDS.includes(tool) ? 'command' : tool === 'apply_patch' ? 'patch' : null;
  return { tool, namespace: null, args, ...(form && { hookForm: form }) };
}

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

test('a tool in a namespace has that in its name, and an MCP tool also the name of its server', () => {
  const hookForm = { otherName: 'mcp__my-files__read.it' };
  expect(
    hookCall({ tool: 'read_it', namespace: 'mcp__my_files', args: {}, hookForm }),
  ).toMatchObject({
    name: 'mcp__my_files__read_it',
    names: ['mcp__my_files__read_it', 'mcp__my-files__read.it'],
  });
  expect(hookCall({ tool: 'delete', namespace: 'crm', args: {} })).toMatchObject({
    name: 'crm__delete',
    names: ['crm__delete'],
  });
});

test('a tool of a client in the place of a built-in one keeps its own form', () => {
  const args = { path: 'a', diff: 'b' };
  const call = { tool: 'apply_patch', namespace: null, args };
  expect(hookCall(call)).toEqual({ name: 'apply_patch', names: ['apply_patch'], input: args });
  expect(withInput(call, { path: 'c' })).toEqual({ args: { path: 'c' } });
  expect(hookCall({ tool: 'exec_command', namespace: null, args: { cmd: 'ls' } })).toMatchObject({
    name: 'exec_command',
    input: { cmd: 'ls' },
  });
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
  expect(withInput(use('exec_command', { cmd: 'ls' }), { cmd: 'pwd' })).toEqual({
    problem: 'updatedInput has no string "command"',
  });
});
