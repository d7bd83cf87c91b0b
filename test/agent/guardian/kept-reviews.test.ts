import { expect, test } from 'vitest';
import { lastReview } from '../../../src/agent/guardian/named-review.ts';
import { shownAction } from '../../../src/agent/guardian/shown-action.ts';
import { ThreadItems } from '../../../src/agent/items/thread-items.ts';
import { Outbox } from '../../../src/agent/outbox/outbox.ts';
import type { Announcement } from '../../../src/protocol/announcement.ts';
import type {
  GuardianApprovalReviewStatus,
  ItemApprovalReview,
  UntimedItem,
} from '../../../src/protocol/generated/types.ts';
import type { LogEntry } from '../../../src/store/log-entry.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import type { ThreadStore } from '../../../src/store/thread-store.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { Gate } from '../../support/gate.ts';
import { message, response } from '../../support/test-model.ts';
import { says, THREAD, writes } from '../../tools/command-server.ts';
import {
  ALLOW,
  assesses,
  DENY,
  GUARDED_CONFIG,
  guarded,
  keptReviews,
  reviewsCompleted,
  runsAs,
} from './guardian-server.ts';

const ends = response(message('done'));
const ITEM: UntimedItem = { type: 'fileChange', id: 'i', changes: [], status: 'inProgress' };

function reviewOf(reviewId: string, status: GuardianApprovalReviewStatus): ItemApprovalReview {
  return {
    ...{
      reviewId,
      turnId: 'u',
      startedAtMs: 0,
      completedAtMs: status === 'inProgress' ? null : 1,
      actionHash: '',
    },
    review: { status, riskLevel: null, userAuthorization: null, rationale: null },
    action: { type: 'applyPatch', cwd: '/', files: [] },
  };
}

/** The items of a thread whose store may fail. */
function threadItems(append: (entries: readonly LogEntry[]) => Promise<void> = async () => {}) {
  const announced: Announcement[] = [];
  const announce = (announcement: Announcement) => announced.push(announcement);
  const writer = { threadId: 't', append, close: async () => {} };
  const outbox = new Outbox({ writer, announce, onAppended: () => {} });
  const items = new ThreadItems({
    threadId: 't',
    clock: new FakeClock(),
    outbox,
    announce,
    drained: () => null,
  });
  const last = () => {
    const [completed] = announced
      .flatMap((each) => (each.method === 'item/completed' ? [each.params.item] : []))
      .slice(-1);
    return completed === undefined ? [] : keptReviews(completed).map(({ review }) => review.status);
  };
  return { items, last };
}

test('an item keeps its last 50 reviews', async () => {
  const { items, last } = threadItems();
  const open = await items.begin('u', ITEM);
  for (let index = 0; index < 60; index++)
    await open.review(reviewOf(`r${index}`, index < 10 ? 'denied' : 'approved'), []);
  await open.complete({ ...ITEM, status: 'completed' });
  expect(last()).toEqual(Array.from({ length: 50 }, () => 'approved'));
});

test('an end of a review that cannot be stored is not in the item', async () => {
  let isFull = false;
  const { items, last } = threadItems(async () => {
    if (isFull) throw new StoreError('store_full', 'the disk is full', {});
  });
  const open = await items.begin('u', ITEM);
  await open.review(reviewOf('r', 'inProgress'), []);
  isFull = true;
  await expect(open.review(reviewOf('r', 'approved'), [])).rejects.toThrow('the disk is full');
  isFull = false;
  await open.complete({ ...ITEM, status: 'failed' });
  expect(last()).toEqual(['aborted']);
});

test('an item that completes while the end of its review is being stored has that end', async () => {
  const { items, last } = threadItems();
  const open = await items.begin('u', ITEM);
  await open.review(reviewOf('r', 'inProgress'), []);
  await Promise.all([
    open.review(reviewOf('r', 'denied'), []),
    open.complete({ ...ITEM, status: 'failed' }),
  ]);
  expect(last()).toEqual(['denied']);
});

test('a long command is cut beside a review, and says so', () => {
  const action = {
    type: 'command' as const,
    command: 'x'.repeat(10_000),
    cwd: '/',
    source: 'shell' as const,
    stdin: null,
  };
  expect(shownAction(action)).toMatchObject({
    command: `${'x'.repeat(8_000)} [… 2000 characters left out …]`,
    stdin: null,
  });
});

/** Reads a line, and ends when it has read `end`. */
const reads = (id: string) =>
  response(
    runsAs(
      id,
      'stty -echo; echo up; while read line && [ "$line" != end ]; do echo "got $line"; done',
      { tty: true, yield_time_ms: 250 },
    ),
  );

test('the review of input ends when its command does, and clients hear what is stored', async () => {
  const gate = new Gate();
  const server = await guarded({
    turns: [reads('c1'), writes('two\n', { yield_time_ms: 250 }, 'c2'), ends],
    reviews: [assesses(ALLOW), [gate, ...assesses(ALLOW)]],
  });
  const turn = server.client.turn(THREAD, 'go');
  await says(server, 'up');
  await server.clock.timerOf(250);
  server.clock.advance(250);
  await gate.reached;
  const { data } = await server.client.request('thread/backgroundTerminals/list', {
    threadId: THREAD,
  });
  await server.client.request('thread/backgroundTerminals/terminate', {
    threadId: THREAD,
    processId: data[0]?.processId ?? '',
  });
  await turn;
  expect(reviewsCompleted(server).map(({ review }) => review.status)).toEqual([
    'approved',
    'aborted',
  ]);
  const { thread } = await server.client.request('thread/read', {
    threadId: THREAD,
    includeTurns: true,
  });
  const item = thread.turns[0]?.items.find(({ id }) => id === 'c1');
  expect(
    keptReviews(item).map(({ review, completedAtMs }) => [review.status, completedAtMs !== null]),
  ).toEqual([
    ['approved', true],
    ['aborted', true],
  ]);
});

test('a denial of input in a later turn can be overruled after a restart', async () => {
  const server = await guarded({
    turns: [reads('c1'), ends, writes('two\n', { yield_time_ms: 250 }, 'c2'), ends],
    reviews: [assesses(ALLOW), assesses(DENY)],
  });
  const turn = server.client.turn(THREAD, 'go');
  await says(server, 'up');
  await server.clock.timerOf(250);
  server.clock.advance(250);
  await turn;
  await server.client.turn(THREAD, 'write');
  const event = reviewsCompleted(server).at(-1);
  expect(event).toMatchObject({ targetItemId: 'c1', review: { status: 'denied' } });
  const next = await server.restart({ config: GUARDED_CONFIG });
  await next.client.request('thread/resume', { threadId: THREAD });
  expect(
    await next.client.request('thread/approveGuardianDeniedAction', { threadId: THREAD, event }),
  ).toEqual({});
});

/** A store whose thread has these items, the newest first. */
function storeOf(items: UntimedItem[]): ThreadStore {
  const listItems: ThreadStore['listItems'] = async (_threadId, { cursor, limit = 1 }) => {
    const start = Number(cursor ?? 0);
    const data = items
      .slice(start, start + limit)
      .map((item) => ({ turnId: 'u', item, startedAtMs: 0, completedAtMs: 0 }));
    const nextCursor = start + limit < items.length ? String(start + limit) : null;
    return { data, bytes: 0, nextCursor, backwardsCursor: null };
  };
  return { listItems } as ThreadStore;
}

const plain = (count: number) =>
  Array.from({ length: count }, (): UntimedItem => ({ type: 'contextCompaction', id: 'x' }));
const reviewed = (...approvalReviews: ItemApprovalReview[]): UntimedItem => ({
  ...ITEM,
  approvalReviews,
});

test.each([
  ['behind many items', [...plain(300), reviewed(reviewOf('r', 'denied'))], 'r'],
  [
    'not one in progress',
    [reviewed(reviewOf('r2', 'inProgress')), reviewed(reviewOf('r1', 'denied'))],
    'r1',
  ],
  [
    'of an older item that was reviewed again later',
    [
      reviewed(reviewOf('r2', 'denied')),
      reviewed(reviewOf('r1', 'approved'), { ...reviewOf('r3', 'denied'), completedAtMs: 9 }),
    ],
    'r3',
  ],
  ['none', plain(300), null],
])('the last stored review: %s', async (_, items, reviewId) => {
  expect((await lastReview('t', storeOf(items)))?.review.reviewId ?? null).toBe(reviewId);
});
