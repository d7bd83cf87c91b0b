import { type MethodTable, unqueued } from '../requested/method.ts';
import { requireFolder } from '../requested/require-folder.ts';
import { offerTools } from '../thread-loading/offer-tools.ts';
import { settingsAnswer } from '../thread-loading/settings-answer.ts';
import { newThreadRequest } from '../thread-loading/thread-request.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';
import { warnOfThread } from '../thread-loading/warn-of-thread.ts';

export function startMethods(deps: ThreadServices) {
  const { threads, followers, clients } = deps;
  return {
    'thread/start': {
      order: unqueued,
      async handle(params, { caller, after }) {
        const request = newThreadRequest(params, caller);
        // Without a folder, the thread works in that of the server, which can be gone too.
        requireFolder(request.overrides.cwd ?? '.', deps.cwd);
        const thread = await threads.start(request);
        followers.subscribe(thread.id, caller.id);
        offerTools(deps, thread, caller);
        if (params.experimentalRawEvents === true) followers.sendRawEvents(thread.id, caller.id);
        const answer = { thread: threads.view(thread.record), ...settingsAnswer(thread) };
        after(() => {
          clients.publish({ threadId: thread.id }, 'thread/started', { thread: answer.thread });
          warnOfThread(deps, thread, caller);
          thread.opened('started');
        });
        return answer;
      },
    },
  } satisfies Partial<MethodTable>;
}
