import type { LoadedThread } from '../../agent/loaded-thread.ts';
import type { ReviewTarget } from '../../protocol/generated/types.ts';
import { emptyField } from '../../protocol/rpc-error.ts';
import { type CallContext, type MethodTable, perThread } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';
import { newThreadRequest } from '../thread-loading/thread-request.ts';

export function reviewMethods(deps: ThreadDeps) {
  return {
    'review/start': {
      queue: perThread,
      async handle(params, context) {
        const source = deps.threads.require(params.threadId);
        checkTarget(params.target);
        const thread = params.delivery === 'detached' ? await detached(deps, source, context) : source;
        const { turn, afterAnswer } = await thread.startReview(params.target);
        context.after(afterAnswer);
        return { turn, reviewThreadId: thread.id };
      },
    },
  } satisfies Partial<MethodTable>;
}

/** A fork of the thread, which the caller follows. */
async function detached({ threads, followers, clients }: ThreadDeps, source: LoadedThread, context: CallContext): Promise<LoadedThread> {
  const { caller, after } = context;
  const request = newThreadRequest({ threadId: source.id, ephemeral: source.record.ephemeral }, caller);
  const fork = await threads.fork(await threads.record(source.id), null, request);
  followers.subscribe(fork.id, caller.id);
  after(() => clients.publish({ threadId: fork.id }, 'thread/started', { thread: threads.view(fork.record) }));
  return fork;
}

function checkTarget(target: ReviewTarget): void {
  const [field, text] = namedBy(target);
  if (text.trim() === '') throw emptyField('empty_target', field);
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
