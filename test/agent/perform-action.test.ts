import { expect, test } from 'vitest';
import type { ActionDeps } from '../../src/agent/calls/action-deps.ts';
import type { ClientQuestions } from '../../src/agent/calls/client-questions.ts';
import { performAction } from '../../src/agent/calls/perform-action.ts';
import { ThreadItems } from '../../src/agent/items/thread-items.ts';
import { Outbox } from '../../src/agent/outbox/outbox.ts';
import { ActiveTurn } from '../../src/agent/turn/active-turn.ts';
import type { Reviewer } from '../../src/agent/turn/reviewer.ts';
import { TurnParts } from '../../src/agent/turn/turn-parts.ts';
import { SessionGrants } from '../../src/policy/permissions/session-grants.ts';
import type { Announcement } from '../../src/protocol/announcement.ts';
import type { UntimedItem } from '../../src/protocol/generated/types.ts';
import type { ThreadSettings } from '../../src/store/thread-record.ts';
import type { ThreadWriter } from '../../src/store/thread-store.ts';
import {
  type Action,
  type ActionOutcome,
  type Judgement,
  type OpenItem,
  UNCONFINED,
} from '../../src/tools/action.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingLog } from '../support/recording-log.ts';

const threadId = 't';
const ITEM: UntimedItem = { type: 'fileChange', id: 'i', changes: [], status: 'inProgress' };

const writer: ThreadWriter = {
  threadId,
  append: async () => {},
  close: async () => {},
};

/**
 * Performs an action with an item. Returns its item notifications, and the message of the error if
 * it rejects.
 */
async function performed({
  judged = { run: UNCONFINED },
  perform,
  person = { review: broken },
  announced = [],
}: {
  judged?: Judgement;
  perform: (shown: OpenItem | null) => ActionOutcome;
  person?: Reviewer;
  announced?: Announcement[];
}) {
  const clock = new FakeClock();
  const outbox = new Outbox({
    writer,
    announce: (announcement) => announced.push(announcement),
    onAppended: () => {},
  });
  const turn = new ActiveTurn({
    id: 'u',
    kind: 'user',
    startedAtMs: 0,
    startedMs: 0,
    settings: { approvalsReviewer: 'user' } as ThreadSettings,
    outputSchema: null,
  });
  let closed = 0;
  const action: Action = {
    kind: 'other',
    item: ITEM,
    judge: () => judged,
    perform: async (_permit, shown) => perform(shown),
    refused: () => ({ output: 'refused', success: false, item: ITEM }),
    close: async () => {
      closed++;
    },
  };
  const deps: ActionDeps = {
    parts: new TurnParts([], { threadId, log: new RecordingLog() }),
    guardian: { review: broken },
    person,
    questions: { answerMsMax: null } as ClientQuestions,
    grants: new SessionGrants(),
    items: new ThreadItems({
      threadId,
      clock,
      outbox,
      announce: (announcement) => announced.push(announcement),
      drained: () => null,
    }),
    outbox,
    usage: { aside: () => ({}) },
    log: new RecordingLog(),
  };
  const error = await performAction(action, turn, deps).then(
    () => null,
    ({ message }: Error) => message,
  );
  expect(closed).toBe(1);
  const shown = announced.map(({ method, params }) => [
    method,
    'item' in params && 'status' in params.item ? params.item.status : null,
  ]);
  return { error, shown };
}

const broken = () => {
  throw new Error('broken');
};
const COMPLETED: ActionOutcome = {
  output: 'done',
  success: true,
  item: { ...ITEM, status: 'completed' },
};
const FAILED = {
  error: 'broken',
  shown: [
    ['item/started', 'inProgress'],
    ['item/completed', 'failed'],
  ],
};

test('the item of an action that throws completes as failed', async () => {
  expect(await performed({ perform: broken })).toEqual(FAILED);
});

test('the item of an action that throws completes with what clients have seen of it', async () => {
  const announced: Announcement[] = [];
  const changes = [{ path: '/a', kind: { type: 'add' as const }, diff: 'text' }];
  const perform = (shown: OpenItem | null) => {
    shown?.update({ ...ITEM, changes });
    return broken();
  };
  expect(await performed({ perform, announced })).toEqual(FAILED);
  expect(announced.at(-1)?.params).toMatchObject({ item: { ...ITEM, changes, status: 'failed' } });
});

test('the item completes as failed if keeping a verdict fails', async () => {
  const reviewer: Reviewer = {
    review: async (_ask, show) => {
      await show();
      return { allow: UNCONFINED, scope: 'always' };
    },
  };
  const ask = {
    permit: UNCONFINED,
    describe: broken,
    askPerson: broken,
    keep: async () => broken(),
  };
  expect(await performed({ judged: { ask }, perform: () => COMPLETED, person: reviewer })).toEqual(
    FAILED,
  );
});

test('an item that has not begun stays hidden if a reviewer fails', async () => {
  const reviewer: Reviewer = { review: async () => broken() };
  const ask = { permit: UNCONFINED, describe: broken, askPerson: broken };
  expect(await performed({ judged: { ask }, perform: () => COMPLETED, person: reviewer })).toEqual({
    error: 'broken',
    shown: [],
  });
});

test('an item completes once', async () => {
  expect(await performed({ perform: () => COMPLETED })).toEqual({
    error: null,
    shown: [
      ['item/started', 'inProgress'],
      ['item/completed', 'completed'],
    ],
  });
});
