import { describe, expect, test } from 'vitest';
import type { ThreadStartParams } from '../../../src/protocol/generated/types.ts';
import { requiredValues } from '../../protocol/required-enums.ts';
import { idOf } from '../../support/counting-ids.ts';
import { message, response } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

const REVIEWERS = ['user', 'auto_review', 'guardian_subagent'] as const;
const POLICIES = ['untrusted', 'on-failure', 'on-request', 'never'] as const;
const MODES = [
  ['read-only', 'readOnly'],
  ['workspace-write', 'workspaceWrite'],
  ['danger-full-access', 'dangerFullAccess'],
] as const;
const SOURCES = ['user', 'subagent', 'memory_consolidation'] as const;

test('the tables have every value of the required schemas', () => {
  for (const name of ['ThreadForkParams', 'ThreadResumeParams', 'TurnStartParams'] as const) {
    expect(POLICIES).toEqual(expect.arrayContaining(requiredValues(name, 'AskForApproval')));
    expect(REVIEWERS).toEqual(expect.arrayContaining(requiredValues(name, 'ApprovalsReviewer')));
    expect(MODES.map(([mode]) => mode)).toEqual(
      expect.arrayContaining(requiredValues(name, 'SandboxMode')),
    );
  }
  expect(SOURCES).toEqual(requiredValues('ThreadForkParams', 'ThreadSource'));
});

/**
 * The settings of a thread that is started, forked, resumed after a restart, or given a turn, with
 * these params.
 */
async function settingsAfter(method: string, params: ThreadStartParams) {
  const server = await startServer();
  if (method === 'thread/start') return server.client.request('thread/start', params);
  await server.client.request('thread/start', {});
  server.model.push(response(message('ok')));
  if (method === 'turn/start') {
    const { approvalPolicy = null, approvalsReviewer = null } = params;
    await server.client.turn(idOf(1), 'hi', { approvalPolicy, approvalsReviewer });
    return server.client.request('thread/resume', { threadId: idOf(1) });
  }
  await server.client.turn(idOf(1), 'hi');
  if (method === 'thread/fork')
    return server.client.request('thread/fork', { threadId: idOf(1), ...params });
  const { client } = await server.restart();
  return client.request('thread/resume', { threadId: idOf(1), ...params });
}

describe.each(['thread/start', 'thread/fork', 'thread/resume', 'turn/start'])(
  '%s takes',
  (method) => {
    test.each(POLICIES)('the approval policy `%s`', async (approvalPolicy) => {
      expect(await settingsAfter(method, { approvalPolicy })).toMatchObject({ approvalPolicy });
    });

    test.each(REVIEWERS)('the approvals reviewer `%s`', async (approvalsReviewer) => {
      expect(await settingsAfter(method, { approvalsReviewer })).toMatchObject({
        approvalsReviewer,
      });
    });

    if (method === 'turn/start') return;
    test.each(MODES)('the sandbox mode `%s` as the policy `%s`', async (sandbox, type) => {
      expect(await settingsAfter(method, { sandbox })).toMatchObject({ sandbox: { type } });
    });
  },
);

test.each(['thread/start', 'thread/fork'])(
  '%s keeps the source `user`, `subagent` or `memory_consolidation` of a thread',
  async (method) => {
    const found: unknown[] = [];
    for (const threadSource of SOURCES) {
      const { thread } = await settingsAfter(method, { threadSource });
      found.push(thread.threadSource);
    }
    expect(found).toEqual(SOURCES);
  },
);
