import type { LoadedThread } from '../../agent/threads/loaded-thread.ts';
import type { Config } from '../../config/config.ts';
import { shownFeatures } from '../../config/features/feature-list.ts';
import type { Configured } from '../config-writing/configured.ts';
import { pageByPosition } from '../requested/list-page.ts';
import { type MethodTable, unqueued } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

export function experimentalFeatureListMethods({
  config,
  threads,
}: Pick<Configured, 'config'> & Pick<ThreadServices, 'threads'>) {
  return {
    'experimentalFeature/list': {
      order: unqueued,
      async handle({ cursor, limit, threadId = null }) {
        return pageByPosition(
          shownFeatures(await (threadId === null ? config() : configOf(threads.require(threadId)))),
          { cursor, limit },
        );
      },
    },
  } satisfies Partial<MethodTable>;
}

/** The configuration of a thread, after a reload that a client has asked for before. */
async function configOf(thread: LoadedThread): Promise<Config> {
  await thread.turnBegun();
  return thread.configuration.config;
}
