import { contextMessage } from '../../instructions/messages/context-message.ts';
import {
  REVIEW_INSTRUCTIONS,
  reviewHint,
  reviewTask,
} from '../../instructions/review-instructions.ts';
import { readingOnly } from '../../policy/permissions/complete-sandbox-policy.ts';
import type { ReviewTarget, UntimedItem } from '../../protocol/generated/types.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { ThreadPatch, ThreadSettings } from '../../store/thread-record.ts';
import { timedItem } from '../../store/timed-item.ts';
import { itemShown } from '../items/item-shown.ts';
import { mergedSteps, type StepAddition } from '../outbox/step.ts';
import { previewPatch, textPreview } from '../prompt/thread-preview.ts';
import type { ThreadContext } from '../thread-context.ts';
import { ActiveTurn } from '../turn/active-turn.ts';
import type { Joined, RunTurn } from '../turn/turn-starter.ts';
import { turnView } from '../turn/turn-view.ts';
import { REVIEW_SCHEMA } from './read-review.ts';
import { ReviewConversation } from './review-conversation.ts';

/**
 * Begins the turn of a review, which takes no input. It is stored when this resolves, and runs when
 * `afterAnswer` is called. The settings of the thread stay as they are.
 */
export async function beginReview(
  thread: ThreadContext,
  run: RunTurn,
  target: ReviewTarget,
): Promise<Joined> {
  const { id: threadId, state, outbox, parts, services } = thread;
  const { clock, ids } = services.runtime;
  const { configuration } = state;
  const now = clock.now();
  const startedMs = clock.monotonic();
  const turnId = ids.next();
  const settings = await reviewSettings(thread);
  const { messages } = await configuration.instructions.contextUpdate({
    settings,
    granted: [],
    told: null,
    now,
  });
  const hint = reviewHint(target);
  const task = reviewTask(target);
  const conversation = new ReviewConversation(thread, {
    turnId,
    hint,
    messages: [...messages, contextMessage('user', [task])],
    itemIds: { exited: ids.next(), message: ids.next() },
  });
  const entered: UntimedItem = { type: 'enteredReviewMode', id: ids.next(), review: hint };
  const patch: ThreadPatch = {
    listed: true,
    updatedAtMs: now,
    recencyAtMs: now,
    ...previewPatch(state.record, textPreview(task)),
  };
  const start: StepAddition = {
    entries: [
      { kind: 'turnStarted', turnId, startedAtMs: now, isReview: true },
      { kind: 'item', turnId, item: entered, startedAtMs: now, completedAtMs: now },
    ],
    patch,
  };
  await outbox.commit(mergedSteps([start, parts.step('inputArrived')]));
  state.keep(patch);
  const turn = new ActiveTurn({
    id: turnId,
    kind: 'review',
    startedAtMs: now,
    startedMs,
    settings,
    outputSchema: REVIEW_SCHEMA,
  });
  state.turn = turn;
  state.status = 'active';
  const shown: StepAddition = {
    announce: itemShown(threadId, { turnId, item: entered, atMs: now }),
  };
  const step = mergedSteps([shown, parts.step('turnBegan', turn)]);
  const named: UntimedItem = {
    type: 'userMessage',
    id: turnId,
    clientId: null,
    content: [{ type: 'text', text: hint, text_elements: [] }],
  };
  return {
    turn: turnView({
      id: turnId,
      status: 'inProgress',
      startedAtMs: null,
      items: [timedItem({ item: named, startedAtMs: null, completedAtMs: null })],
    }),
    afterAnswer: () => run(turn, { opening: null, step, conversation }),
  };
}

/** The settings of the reviewer: it only reads, and asks for no approval. */
async function reviewSettings({ state, services }: ThreadContext): Promise<ThreadSettings> {
  const { settings, configuration } = state;
  const model = configuration.responses.reviewModel ?? settings.model;
  const { permissionProfile: _none, multiAgentMode: _noAgents, ...others } = settings;
  return {
    ...others,
    model,
    effort: reviewEffort(model, settings),
    approvalPolicy: 'never',
    sandboxPolicy: await reviewSandbox(settings.sandboxPolicy, services.machine.sandbox),
    baseInstructions: REVIEW_INSTRUCTIONS,
    collaborationMode: {
      mode: 'default',
      settings: {
        model,
        reasoning_effort: reviewEffort(model, settings),
        developer_instructions: null,
      },
    },
  };
}

/**
 * A review model other than the thread's has its default effort: it may not have that of the
 * thread.
 */
function reviewEffort(model: string, settings: ThreadSettings): string | null {
  return model === settings.model ? settings.effort : null;
}

/**
 * Without a sandbox on this machine, full access stays, because the user chose to run commands
 * without one.
 */
async function reviewSandbox(
  policy: ThreadSettings['sandboxPolicy'],
  sandbox: Pick<Sandbox, 'available'>,
): Promise<ThreadSettings['sandboxPolicy']> {
  if (policy.type === 'externalSandbox') return policy;
  if (policy.type === 'dangerFullAccess' && 'problem' in (await sandbox.available())) return policy;
  return readingOnly(policy);
}
