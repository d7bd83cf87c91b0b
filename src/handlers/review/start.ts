import { checkInput } from '../../agent/prompt/check-input.ts';
import { copiedThread } from '../../agent/threads/copied-thread.ts';
import type { LoadedThread } from '../../agent/threads/loaded-thread.ts';
import type { Joined } from '../../agent/turn/turn-starter.ts';
import { reviewTask } from '../../instructions/review-instructions.ts';
import type { ReviewTarget } from '../../protocol/generated/types.ts';
import { emptyField, refused } from '../../protocol/rpc-error.ts';
import { type MethodTable, perThread, type RequestContext } from '../requested/method.ts';
import { announceMode } from '../thread-loading/announce-mode.ts';
import { newThreadRequest } from '../thread-loading/thread-request.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

export function reviewMethods(deps: ThreadServices) {
  return {
    'review/start': {
      order: perThread,
      beginsTurn: true,
      async handle({ threadId, target, delivery }, context) {
        const source = deps.threads.require(threadId);
        checkTarget(target);
        if (!source.configuration.commands.enabled) throw refused('reviews_disabled', DISABLED);
        const { thread, turn, afterAnswer } = await (delivery === 'detached'
          ? detached(deps, source, target, context)
          : inline(source, target));
        context.after(afterAnswer);
        return { turn, reviewThreadId: thread.id };
      },
    },
  } satisfies Partial<MethodTable>;
}

const DISABLED =
  'a reviewer reads the changes with commands, and features.shell_tool is false: set it to true to review';

interface Begun extends Joined {
  /** The thread in which the review runs. */
  thread: LoadedThread;
}

async function inline(thread: LoadedThread, target: ReviewTarget): Promise<Begun> {
  return { thread, ...(await thread.turns.startReview(target)) };
}

/**
 * Begins the review in a copy of the thread, which the caller follows. If it cannot begin, the copy
 * is deleted: nobody knows of it.
 */
async function detached(
  deps: ThreadServices,
  source: LoadedThread,
  target: ReviewTarget,
  { caller, after }: RequestContext,
): Promise<Begun> {
  const { threads, store, followers, clients } = deps;
  const request = newThreadRequest(
    { threadId: source.id, ephemeral: source.record.ephemeral },
    caller,
  );
  const resolved = await copiedThread(source, request);
  const thread = await threads.fork(await threads.record(source.id), null, {
    ...request,
    resolved,
  });
  let begun: Joined;
  try {
    begun = await thread.turns.startReview(target);
  } catch (error) {
    await threads.retire(thread.id, () => store.deleteThread(thread.id));
    throw error;
  }
  followers.subscribe(thread.id, caller.id);
  after(() => {
    announceMode(deps, thread, caller);
    clients.publish({ threadId: thread.id }, 'thread/started', {
      thread: threads.view(thread.record),
    });
  });
  return { thread, ...begun };
}

function checkTarget(target: ReviewTarget): void {
  const [field, text] = namedBy(target);
  if (text.trim() === '') throw emptyField('empty_target', field);
  checkInput([{ type: 'text', text: reviewTask(target), text_elements: [] }], { required: true });
}

/** The field that a target needs, and its value. */
function namedBy(target: ReviewTarget): readonly [string, string] {
  switch (target.type) {
    case 'uncommittedChanges':
      return ['', target.type];
    case 'baseBranch':
      return ['branch', target.branch];
    case 'commit':
      return ['sha', target.sha];
    case 'custom':
      return ['instructions', target.instructions];
    default:
      return target satisfies never;
  }
}
