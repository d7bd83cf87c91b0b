import { checkRequestedSandbox } from '../../requested/check-requested-sandbox.ts';
import { type MethodTable, perThread } from '../../requested/method.ts';
import { requestedModel } from '../../requested/requested-model.ts';
import type { ThreadServices } from '../../thread-loading/thread-services.ts';

export function settingsMethods({ threads, clients }: ThreadServices) {
  return {
    'thread/settings/update': {
      order: perThread,
      async handle({ threadId, ...overrides }, { after }) {
        const thread = threads.require(threadId);
        checkRequestedSandbox(overrides, 'sandboxPolicy');
        const news = await thread.settingsChanges.change((settings) =>
          thread.settingsChanges.overridden(settings, {
            ...overrides,
            model: requestedModel(overrides),
          }),
        );
        after(() => {
          for (const { method, params } of news) clients.publish({ threadId }, method, params);
          // The new settings may let a turn begin by itself: outside plan mode, for example.
          threads.beginDueTurn(threadId);
        });
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
