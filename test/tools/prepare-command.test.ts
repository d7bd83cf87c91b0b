import { expect, test } from 'vitest';
import { SessionGrants } from '../../src/policy/permissions/session-grants.ts';
import type { UntimedItem } from '../../src/protocol/generated/types.ts';
import {
  type ProcessSpec,
  SandboxUnavailableError,
} from '../../src/sandbox/processes/processes.ts';
import type { ActionHost, OpenItem } from '../../src/tools/action.ts';
import { prepareCommand } from '../../src/tools/command/prepare-command.ts';
import { CommandSessions } from '../../src/tools/command/sessions/command-sessions.ts';
import { PROFILE_EACH_TIME } from '../../src/tools/command/snapshot/shell-exports.ts';
import type { CallContext } from '../../src/tools/tool.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { settings } from '../store/samples.ts';
import { FakeClock } from '../support/fake-clock.ts';

const item: UntimedItem = { type: 'plan', id: 'call', text: '' };
const open: OpenItem = {
  startedMs: 0,
  item,
  update: () => {},
  review: async () => {},
  drained: () => null,
  complete: async () => {},
};
const host: ActionHost = {
  requestMore: async () => ({ deny: { by: 'declined' } }),
  askUser: async () => ({ type: 'aborted' }),
  callClientTool: async () => ({ type: 'aborted' }),
  answerMsMax: null,
  countTokens: async () => {},
  emit: async () => {},
  signal: new AbortController().signal,
  newInput: new AbortController().signal,
  turnOver: new AbortController().signal,
  interruptCause: null,
};

/** Prepares `touch x` in /tmp/inner, on processes that record what is to start and then fail. */
async function prepared() {
  const clock = new FakeClock();
  const asked: ProcessSpec[] = [];
  const processes = {
    start: async (spec: ProcessSpec) => {
      asked.push(spec);
      throw new SandboxUnavailableError('bubblewrap is missing: install it');
    },
    killOwned: async () => {},
    prepare: async () => {},
    tidy: async () => {},
    close: async () => {},
  };
  const context: CallContext = {
    threadId: 'thread',
    turnId: 'turn',
    callId: 'call',
    itemId: 'call',
    settings: {
      ...settings,
      cwd: '/tmp',
      sandboxPolicy: { type: 'workspaceWrite' },
      approvalPolicy: 'never',
    },
    grants: new SessionGrants(),
    signal: new AbortController().signal,
  };
  const home = tempFolder();
  const machine = {
    processes,
    proxies: {
      open: () => Promise.reject(new Error('no command connects')),
      close: async () => {},
    },
    home,
    env: { TMPDIR: '/var/tmp' },
  };
  const services = {
    clock,
    waits: clock,
    machine,
    sessions: new CommandSessions({ clock, processes, threadId: 'thread' }),
    settings: {
      limits: { loginShell: true, tokensMax: 100, pollMsMax: 1000, permissions: false },
      unixSockets: () => false,
      network: () => null,
      unprotected: [],
      profileFiles: [],
    },
    shell: PROFILE_EACH_TIME,
    environment: () => ({ PATH: '/bin' }),
    skillFolders: () => [],
    preparePatch: async () => null,
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
  const call = {
    argv: ['/bin/sh', '-lc', 'touch x'],
    script: 'touch x',
    cwd: '/tmp/inner',
    ...how,
  };
  const action = await prepareCommand(call, context, services);
  if (!('perform' in action)) throw new Error('nothing was prepared');
  const judged = await action.judge(context.settings, context.grants);
  if (!('run' in judged)) throw new Error('the command may run without a question');
  return {
    run: (performed: ActionHost) => action.perform(judged.run, open, performed),
    asked,
    home,
  };
}

test('a command whose sandbox is unavailable does not run: its item fails, and the item and the model get the reason', async () => {
  const { run, asked, home } = await prepared();
  expect(await run(host)).toEqual({
    output: 'bubblewrap is missing: install it',
    success: false,
    item: expect.objectContaining({
      status: 'failed',
      exitCode: null,
      aggregatedOutput: 'bubblewrap is missing: install it',
    }),
  });
  // The bounds are those of the thread's working directory, wherever the command runs.
  expect(asked).toMatchObject([
    {
      cwd: '/tmp/inner',
      env: { PATH: '/bin' },
      bounds: { writableRoots: ['/tmp', '/var/tmp'], network: false, home },
      owner: ['thread', 'turn', expect.any(String)],
    },
  ]);
});

test('a command whose turn is interrupted before it starts does not run, and the model is told', async () => {
  const { run, asked } = await prepared();
  expect(await run({ ...host, signal: AbortSignal.abort() })).toEqual({
    output: 'The turn was interrupted before the command started.',
    success: false,
    item: expect.objectContaining({ status: 'failed', exitCode: null, durationMs: null }),
  });
  expect(asked).toEqual([]);
});
