import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ClientQuestions } from '../../src/agent/calls/client-questions.ts';
import { performAction } from '../../src/agent/calls/perform-action.ts';
import { ResponseCalls } from '../../src/agent/calls/response-calls.ts';
import { ThreadItems } from '../../src/agent/items/thread-items.ts';
import { Outbox } from '../../src/agent/outbox/outbox.ts';
import { PromptItems } from '../../src/agent/prompt/prompt-items.ts';
import { ActiveTurn } from '../../src/agent/turn/active-turn.ts';
import { TurnParts } from '../../src/agent/turn/turn-parts.ts';
import { atOnce } from '../../src/base/pace.ts';
import { SessionGrants } from '../../src/policy/permissions/session-grants.ts';
import type {
  ItemApprovalReview,
  ResponseItem,
  UntimedItem,
} from '../../src/protocol/generated/types.ts';
import type { LogEntry } from '../../src/store/log-entry.ts';
import { ModelItems } from '../../src/store/model-items.ts';
import { StoreError } from '../../src/store/store-error.ts';
import type { ThreadSettings } from '../../src/store/thread-record.ts';
import type { WriteChanges } from '../../src/store/thread-store.ts';
import { type Action, UNCONFINED } from '../../src/tools/action.ts';
import type { CallContext, Tool } from '../../src/tools/tool.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { Gate } from '../support/gate.ts';
import { RecordingLog } from '../support/recording-log.ts';

const REVIEW: ItemApprovalReview = {
  ...{ reviewId: 'r', turnId: 'u', startedAtMs: 0, completedAtMs: 1, actionHash: '' },
  review: { status: 'approved', riskLevel: null, userAuthorization: null, rationale: null },
  action: { type: 'applyPatch', cwd: '/', files: [] },
};

/**
 * The calls of the responses of a turn, whose store is as slow as `append`, and fails as it does.
 */
function callsOfTurn(
  append: (entries: readonly LogEntry[], changes: WriteChanges) => Promise<void>,
) {
  const log: LogEntry[] = [];
  const writer = {
    threadId: 't',
    append: async (entries: LogEntry[], changes: WriteChanges = {}) => {
      await append(entries, changes);
      log.push(...entries);
    },
    close: async () => {},
  };
  const outbox = new Outbox({ writer, announce: () => {}, onAppended: () => {} });
  const turn = new ActiveTurn({
    ...{ id: 'u', kind: 'user', startedAtMs: 0, startedMs: 0, outputSchema: null },
    settings: { approvalsReviewer: 'user' } as ThreadSettings,
  });
  const broken = () => {
    throw new Error('nobody is asked');
  };
  const actions = {
    parts: new TurnParts([], { threadId: 't', log: new RecordingLog() }),
    ...{ guardian: { review: broken }, person: { review: broken } },
    questions: { answerMsMax: null } as ClientQuestions,
    grants: new SessionGrants(),
    items: new ThreadItems({
      threadId: 't',
      clock: new FakeClock(),
      outbox,
      announce: () => {},
      drained: () => null,
    }),
    outbox,
    usage: { aside: () => ({}) },
    log: new RecordingLog(),
  };
  /**
   * Begins the calls of a response to the call `call_0`, which calls a tool that ends while a
   * review of it is being saved.
   */
  const respond = async (number: number) => {
    const item: UntimedItem = {
      type: 'fileChange',
      id: `i${number}`,
      changes: [],
      status: 'inProgress',
    };
    const performed = new Gate();
    const action: Action = {
      ...{ kind: 'other', item, judge: () => ({ run: UNCONFINED }), refused: broken },
      perform: async (_permit, shown) => {
        void shown?.review(REVIEW, []).catch(() => {});
        performed.open();
        return {
          output: `output ${number}`,
          success: true,
          item: { ...item, status: 'completed' },
        };
      },
    };
    const tool: Tool = {
      spec: { type: 'function', name: 'tool', description: '', parameters: {} },
      prepare: async () => action,
    };
    const calls = new ResponseCalls(
      {
        ...{
          turnId: 'u',
          tools: [tool],
          withoutOwn: (entries) => entries,
          context: () => ({}) as CallContext,
          pace: atOnce,
        },
        before: async () => ({}),
        perform: (action, called) => performAction(action, turn, { ...actions, called }),
        watches: () => false,
        after: broken,
        store: (entries) => outbox.commit({ entries }),
        learnId: async () => {},
        settle: () => outbox.commit({}),
        log: new RecordingLog(),
      },
      turn.signal,
    );
    const call: ResponseItem = {
      type: 'function_call',
      call_id: 'call_0',
      name: 'tool',
      arguments: '{}',
    };
    calls.begin(call, outbox.commit({ entries: [{ kind: 'model', turnId: 'u', item: call }] }));
    await performed.pass();
    // The action has ended, and its output waits.
    await nextRound();
    return calls;
  };
  const tell = (text: string) => {
    const item: ResponseItem = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text }],
    };
    return outbox.commit({ entries: [{ kind: 'model', turnId: 'u', item }] });
  };
  return { log, respond, tell };
}

/** The outputs that the model reads. */
function outputs(log: readonly LogEntry[]): unknown[] {
  const prompt = new PromptItems();
  const items = new ModelItems({ take: ({ item }) => prompt.add(item), restart: () => {} });
  for (const entry of log) items.add(entry);
  for (const { item } of items.deferred) prompt.add(item);
  return prompt
    .list()
    .flatMap((item) => (item.type === 'function_call_output' ? [item.output] : []));
}

test.each([
  ['and can then be stored', 0],
  ['and can then only be stored at the second attempt', 1],
])(
  'an output that waits while the response ends %s stands before a next call with the same id',
  async (_then, failures) => {
    const saved = new Gate();
    let left = failures;
    const { log, respond, tell } = callsOfTurn(async (entries, { partials = [] }) => {
      if (partials.some(({ item }) => 'approvalReviews' in item)) await saved.pass();
      if (entries.some(({ kind }) => kind === 'item') && left-- > 0)
        throw new StoreError('store_full', 'the disk is full', {});
    });
    const first = await respond(1);
    const responded = first.responded();
    saved.open();
    await responded;
    await first.ended();
    await tell('now this');
    const second = await respond(2);
    await second.responded();
    await second.ended();
    expect(outputs(log)).toEqual(['output 1', 'output 2']);
  },
);
