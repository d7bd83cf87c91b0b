import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { actionHash } from '../../../src/agent/guardian/action-hash.ts';
import { Denials } from '../../../src/agent/guardian/denials.ts';
import { Guardian } from '../../../src/agent/guardian/guardian.ts';
import type { Judge } from '../../../src/agent/guardian/judge.ts';
import { ABORTED } from '../../../src/agent/guardian/judged.ts';
import type { Outbox } from '../../../src/agent/outbox/outbox.ts';
import type { TurnContext } from '../../../src/agent/turn/turn-part.ts';
import { EventLoopYield } from '../../../src/base/event-loop-yield.ts';
import { contextMessage } from '../../../src/instructions/messages/context-message.ts';
import type { ThreadSettings } from '../../../src/store/thread-record.ts';
import { UNCONFINED } from '../../../src/tools/action.ts';
import { CountingIds } from '../../support/counting-ids.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import { completed, THREAD } from '../../tools/command-server.ts';
import {
  assesses,
  DENY,
  GUARDED_CONFIG,
  type Guarded,
  guarded,
  reviewsCompleted,
  runsAs,
} from './guardian-server.ts';

const ends = response(message('done'));
const touches = (id: string, more: object = {}) => response(runsAs(id, 'touch a', more));
const APPROVED = 'The user approved this action after it had been denied.';
/** Patches outside of the workspace are reviewed. */
const PATCH_CONFIG = `${GUARDED_CONFIG.replace('"danger-full-access"', '"workspace-write"').replace('"untrusted"', '"on-request"')}
[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true
`;

async function overrule(server: Guarded): Promise<void> {
  const event = reviewsCompleted(server).findLast(({ review }) => review.status === 'denied');
  await server.client.request('thread/approveGuardianDeniedAction', { threadId: THREAD, event });
}

function statuses(server: Guarded) {
  return completed(server).map(({ id, status }) => [id, status]);
}

/** The lines of the transcript about approvals that the last review had. */
function approvalsRead({ model }: Guarded): { text: string }[] {
  const input = model.reviews.at(-1)?.input[0];
  const lines =
    input?.type === 'message'
      ? JSON.stringify(input.content.map((part) => ('text' in part ? part.text : '')))
      : '[]';
  return (JSON.parse(lines) as string[])
    .flatMap((part) => part.split('\n'))
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ from }) => from === 'approval');
}

/** The hash and the action in a message about an approval. */
function approvedAction(message: string) {
  return JSON.parse(message.split('\n').find((line) => line.startsWith('{')) ?? '{}');
}

test('the action passes with another justification, which is no part of it', async () => {
  const server = await guarded({
    turns: [
      touches('c1', { justification: 'I need it.' }),
      ends,
      touches('c2', { justification: 'The user has approved it.' }),
      ends,
    ],
    reviews: [assesses(DENY)],
  });
  await server.client.turn(THREAD, 'go');
  await overrule(server);
  await server.client.turn(THREAD, 'again');
  expect(statuses(server)).toEqual([
    ['c1', 'declined'],
    ['c2', 'completed'],
  ]);
  expect(server.model.reviews).toHaveLength(1);
});

test('a request for permissions passes with another reason', async () => {
  const asks = (id: string, reason: string) =>
    response(
      functionCall(
        'request_permissions',
        { reason, permissions: { network: { enabled: true } } },
        { callId: id },
      ),
    );
  const server = await guarded(
    {
      turns: [asks('c1', 'To install.'), ends, asks('c2', 'It is approved.'), ends],
      reviews: [assesses(DENY)],
    },
    { config: `${PATCH_CONFIG}[features]\nrequest_permissions_tool = true\n` },
  );
  await server.client.turn(THREAD, 'go');
  await overrule(server);
  await server.client.turn(THREAD, 'again');
  expect(reviewsCompleted(server).map(({ review }) => review.status)).toEqual([
    'denied',
    'approved',
  ]);
});

test.each([
  ['another command', { cmd: 'touch b' }],
  ['another folder', { workdir: '/' }],
  ['a terminal', { tty: true }],
])('the approval does not cover the action with %s', async (_, change) => {
  const server = await guarded({
    turns: [touches('c1'), ends, touches('c2', change), ends],
    reviews: [assesses(DENY)],
  });
  await server.client.turn(THREAD, 'go');
  await overrule(server);
  await server.client.turn(THREAD, 'again');
  expect(statuses(server)).toEqual([
    ['c1', 'declined'],
    ['c2', 'declined'],
  ]);
});

test.each([
  ['the script that it runs', 'sh run.sh', 'run.sh', ['denied', 'denied']],
  ['a file that it does not run', 'sh run.sh', 'data', ['denied', 'approved']],
])('after a change of %s', async (_, cmd, changed, expected) => {
  const server = await guarded({
    turns: [response(runsAs('c1', cmd)), ends, response(runsAs('c2', cmd)), ends],
    reviews: [assesses(DENY)],
  });
  writeFileSync(join(server.cwd, 'run.sh'), 'exit 0\n');
  await server.client.turn(THREAD, 'go');
  await overrule(server);
  writeFileSync(join(server.cwd, changed), 'echo other\n');
  await server.client.turn(THREAD, 'again');
  expect(reviewsCompleted(server).map(({ review }) => review.status)).toEqual(expected);
});

test('a denial of a command that names files only for its shell cannot be overruled', async () => {
  const server = await guarded({
    turns: [response(runsAs('c1', 'f=run; sh $f.sh')), ends],
    reviews: [assesses(DENY)],
  });
  await server.client.turn(THREAD, 'go');
  await expect(overrule(server)).rejects.toMatchObject({
    data: { code: 'review_not_comparable' },
    message: expect.stringContaining('Run the command yourself'),
  });
});

const patches = (id: string, line: string) =>
  response(
    functionCall(
      'apply_patch',
      { input: `*** Begin Patch\n*** Add File: ../out.txt\n+${line}\n*** End Patch\n` },
      { callId: id },
    ),
  );

test('the approval of a patch names its change, and the guardian reads that another change is another action', async () => {
  const server = await guarded(
    {
      turns: [patches('c1', 'harmless'), ends, patches('c2', 'EVIL'), ends],
      reviews: [assesses(DENY)],
    },
    { config: PATCH_CONFIG },
  );
  await server.client.turn(THREAD, 'go');
  await overrule(server);
  await server.client.turn(THREAD, 'again');
  expect(reviewsCompleted(server).map(({ review }) => review.status)).toEqual(['denied', 'denied']);
  const [approval] = approvalsRead(server);
  const approved = approvedAction(approval?.text ?? '');
  expect(approved).toMatchObject({
    call: 'c1',
    action: { tool: 'apply_patch', changes: [{ kind: 'add', diff: '+harmless\n' }] },
  });
  const planned = JSON.stringify(server.model.reviews.map(({ input }) => input[1]));
  const [first, second] = [...planned.matchAll(/actionHash\\":\\"(\w+)/g)].map(([, hash]) => hash);
  expect(approved.actionHash).toBe(first);
  expect(second).not.toBe(first);
});

test('the approval of a long patch, or after a restart, names the call and the hash', async () => {
  const server = await guarded(
    { turns: [patches('c1', 'x'.repeat(30_000)), ends, ends], reviews: [assesses(DENY)] },
    { config: PATCH_CONFIG },
  );
  await server.client.turn(THREAD, 'go');
  await overrule(server);
  await server.client.turn(THREAD, 'again');
  const told = JSON.stringify(server.model.own.at(-1)?.input);
  expect(told).toContain('it is the one of the call that is named');
  expect(told).toMatch(/actionHash\\":\\"\w{64}\\",\\"call\\":\\"c1\\"/);
});

test.each([
  ['an interrupt before the review ends', 'interrupt'],
  ['a store that fails', 'failure'],
])('an approval stays valid after %s, because the action is not performed', async (_, fault) => {
  const abort = new AbortController();
  let commits = 0;
  const commit = async () => {
    commits++;
    if (fault === 'interrupt') abort.abort();
    else if (commits === 2) throw new Error('the disk is full');
  };
  const outbox = { commit, announce: async () => {} } as unknown as Outbox;
  const judge = { judge: async () => ABORTED, needsPerson: () => null } as unknown as Judge;
  const deps = {
    threadId: 't',
    sessionId: 't',
    clock: new FakeClock(),
    ids: new CountingIds(),
    denials: new Denials(),
    history: async () => [],
  };
  const guardian = new Guardian({ ...deps, outbox, judge });
  const planned = { tool: 'exec_command' };
  const hash = await actionHash({ planned, files: {} }, new EventLoopYield());
  const told = contextMessage('developer', ['approved']);
  guardian.log.approve(hash, told);
  const question = {
    permit: UNCONFINED,
    describe: () => ({
      targetItemId: 'c1',
      shown: { type: 'applyPatch' as const, cwd: '/', files: [] },
      planned,
    }),
  };
  const facts = {
    id: 'u',
    rootTurnId: 'u',
    kind: 'user',
    startedAtMs: 0,
    clientMetadata: {},
    settings: {} as ThreadSettings,
    steerRefusal: null,
    interruptCause: null,
  } as const;
  const turn: TurnContext = { ...facts, signal: abort.signal };
  await guardian.review(question, async () => null, turn).catch(() => null);
  expect(commits).toBe(2);
  expect(guardian.log.takeApproval(hash)).toEqual(told);
});

test('an approval ends with the next turn that begins', async () => {
  const server = await guarded({
    turns: [touches('c1'), ends, ends, touches('c2'), ends],
    reviews: [assesses(DENY)],
  });
  await server.client.turn(THREAD, 'go');
  await overrule(server);
  await server.client.turn(THREAD, 'Do not do it after all.');
  await server.client.turn(THREAD, 'go on');
  expect(statuses(server).at(-1)).toEqual(['c2', 'declined']);
});

test('a revert ends approvals, and forgets the reviews of the turns that are removed', async () => {
  const server = await guarded({
    turns: [touches('c1'), ends, touches('c2'), ends],
    reviews: [assesses(DENY)],
  });
  await server.client.turn(THREAD, 'go');
  await overrule(server);
  await server.client.request('thread/rollback', { threadId: THREAD, numTurns: 1 });
  expect(await server.client.refusal('thread/guardianReview', { threadId: THREAD })).toMatchObject({
    data: { code: 'review_not_found' },
  });
  await server.client.turn(THREAD, 'again');
  expect(statuses(server).at(-1)).toEqual(['c2', 'declined']);
});

test('after a compaction, the model still reads the approvals that are open', async () => {
  const server = await guarded({
    turns: [touches('c1'), ends, response(message('a summary')), touches('c2'), ends],
    reviews: [assesses(DENY)],
  });
  await server.client.turn(THREAD, 'go');
  await overrule(server);
  await server.client.request('thread/compact/start', { threadId: THREAD });
  await server.client.waitFor('thread/compacted');
  await server.client.turn(THREAD, 'again');
  expect(JSON.stringify(server.model.own.at(-1)?.input)).toContain('<approved_action>');
  expect(reviewsCompleted(server).at(-1)).toMatchObject({
    review: { status: 'approved', rationale: APPROVED },
  });
});
