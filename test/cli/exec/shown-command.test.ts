import { expect, test } from 'vitest';
import {
  shownCommand,
  shownMcpApproval,
  shownPermissions,
} from '../../../src/cli/exec/asking/shown-command.ts';
import type { CommandExecutionRequestApprovalParams } from '../../../src/protocol/generated/types.ts';

const ASKED: CommandExecutionRequestApprovalParams = {
  threadId: 't',
  turnId: 'u',
  itemId: 'i',
  approvalId: null,
  kind: 'command',
  startedAtMs: 0,
  reason: null,
  command: 'one\ntwo \x1b[2K',
  cwd: '/w\u202e',
  commandActions: null,
  networkApprovalContext: null,
  proposedExecpolicyAmendment: null,
  proposedNetworkPolicyAmendments: null,
  additionalPermissions: null,
  environmentId: null,
  availableDecisions: null,
};

test('a command is shown whole and harmless, with what it needs beyond its sandbox', () => {
  const fileSystem = { read: ['/r'], write: ['/w'] };
  const agent = { threadId: 'a', nickname: 'Ada\n', role: null, parentThreadId: 't' };
  const params = {
    ...ASKED,
    agent,
    reason: 'why\rnot',
    additionalPermissions: { network: { enabled: true }, fileSystem },
  };
  expect(shownCommand(params)).toEqual([
    'The sub-agent Ada\\n wants to run this command.',
    '$ one',
    '  two \\x1b[2K',
    '  in /w\\u{202e}',
    '  with these permissions:',
    '    read /r',
    '    write /w',
    '    reach the network',
    '  reason: why\\rnot',
  ]);
  const long = 'x'.repeat(100_000);
  expect(shownCommand({ ...ASKED, command: long })).toContain(`$ ${long}`);
});

test('a host is shown with its port and protocol, and input for a command as such', () => {
  const target = { host: 'x.example', protocol: 'https', port: 443 } as const;
  expect(shownCommand({ ...ASKED, networkApprovalContext: target })[0]).toBe(
    'The agent wants to reach x.example, port 443 (https).',
  );
  expect(shownCommand({ ...ASKED, kind: 'writeStdin' })[0]).toBe(
    'The agent wants to send this input to a running command.',
  );
});

test('permissions are shown in every form that they have', () => {
  const entries = [
    { path: { type: 'path', path: '/p' }, access: 'read' },
    { path: { type: 'glob_pattern', pattern: '**/.env' }, access: 'deny' },
    {
      path: { type: 'special', value: { kind: 'project_roots', subpath: 'src' } },
      access: 'write',
    },
  ] as const;
  expect(
    shownPermissions({ network: null, fileSystem: { read: ['/p'], entries: [...entries] } }),
  ).toEqual(['    read /p', '    deny **/.env', '    write project_roots src']);
  expect(shownPermissions({ network: { enabled: false }, fileSystem: null })).toEqual([]);
});

test('a call of an MCP tool is recognized by what heddle says about it, not by what a server says', () => {
  const form = {
    threadId: 't',
    turnId: 'u',
    serverName: 's',
    message: 'm',
    mode: 'form',
    requestedSchema: { type: 'object', properties: {} },
  } as const;
  const _meta = {
    codex_approval_kind: 'mcp_tool_call',
    persist: ['session', 3],
    tool_params: { path: 'a\x1b' },
  };
  expect(shownMcpApproval({ ...form, _meta })).toEqual({
    lines: ['    path: "a\\u001b"'],
    persist: ['session'],
  });
  for (const none of [null, 'text', {}, { persist: ['always'] }])
    expect(shownMcpApproval({ ...form, _meta: none })).toBe(null);
});
