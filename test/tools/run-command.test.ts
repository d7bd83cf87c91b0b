import { expect, test } from 'vitest';
import { Grants } from '../../src/policy/permissions/grants.ts';
import type { ThreadItem } from '../../src/protocol/generated/types.ts';
import { type ProcessSpec, SandboxUnavailableError } from '../../src/sandbox/processes/processes.ts';
import { runCommand } from '../../src/tools/command/run-command.ts';
import { CommandSessions } from '../../src/tools/command/sessions/command-sessions.ts';
import type { ToolContext } from '../../src/tools/tool.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { settings } from '../store/samples.ts';
import { FakeClock } from '../support/fake-clock.ts';

const NEVER = new AbortController().signal;

test('a command whose sandbox cannot be had does not run: its item has failed, and item and model say why', async () => {
  const clock = new FakeClock();
  const asked: ProcessSpec[] = [];
  const processes = {
    start: async (spec: ProcessSpec) => {
      asked.push(spec);
      throw new SandboxUnavailableError('bubblewrap is missing: install it');
    },
    killOwned: async () => {},
    close: async () => {},
  };
  const items: ThreadItem[] = [];
  const complete = async (item: ThreadItem) => void items.push(item);
  const context: ToolContext = {
    threadId: 'thread',
    turnId: 'turn',
    callId: 'call',
    itemId: 'call',
    settings: { ...settings, cwd: '/tmp', sandboxPolicy: { type: 'workspaceWrite' }, approvalPolicy: 'never' },
    emit: async () => {},
    items: { begin: async () => ({ startedAtMs: 0, update: () => {}, drained: () => null, complete }) },
    approvals: { grants: new Grants(), ask: async () => ({ type: 'aborted' }), timeoutMs: null, cancelTurn: () => {} },
  };
  const home = tempFolder();
  const deps = {
    clock,
    processes,
    sessions: new CommandSessions({ clock, processes, threadId: 'thread' }),
    home,
    env: { TMPDIR: '/var/tmp' },
    environment: () => ({ PATH: '/bin' }),
    limits: { loginShell: true, tokensMax: 100, pollMsMax: 1000, permissions: false },
    patchIn: null,
  };
  const how = {
    tty: false,
    yields: true,
    waitMs: 1000,
    tokensMax: 100,
    escalates: false,
    permissions: null,
    justification: null,
    prefixRule: null,
  };
  const result = await runCommand(
    { argv: ['/bin/sh', '-lc', 'touch x'], script: 'touch x', cwd: '/tmp/inner', ...how },
    context,
    deps,
    NEVER,
  );
  expect(result).toEqual({ output: 'bubblewrap is missing: install it', success: false });
  expect(items).toMatchObject([{ status: 'failed', exitCode: null, aggregatedOutput: 'bubblewrap is missing: install it' }]);
  // The bounds are those of the thread's folder, wherever the command runs.
  expect(asked).toMatchObject([
    {
      cwd: '/tmp/inner',
      env: { PATH: '/bin' },
      bounds: { writableRoots: ['/tmp', '/var/tmp'], network: false, home },
      owner: ['thread', 'turn', expect.any(String)],
    },
  ]);
});
