import { invalidCursor } from '../../protocol/errors.ts';
import { type MethodTable, pageLimit } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';

// In no queue: what is to be ended may keep the thread's other requests waiting.
export function backgroundTerminalMethods({ threads }: ThreadDeps) {
  return {
    'thread/backgroundTerminals/list': {
      queue: null,
      handle({ threadId, cursor, limit }) {
        const all = threads.require(threadId).commands.running;
        const first = cursor == null ? 0 : all.findIndex(({ number }) => `before-${number}` === cursor) + 1;
        if (cursor != null && !/^before-\d+$/.test(cursor)) throw invalidCursor(cursor);
        const page = all.slice(first, first + pageLimit(limit));
        const last = page.at(-1);
        return {
          data: page.map(({ number, text, cwd, shown, program }) => ({
            itemId: shown.itemId,
            processId: String(number),
            command: text,
            cwd,
            osPid: program.pid,
            cpuPercent: null,
            rssKb: null,
          })),
          nextCursor: last !== undefined && last !== all.at(-1) ? `before-${last.number}` : null,
        };
      },
    },

    'thread/backgroundTerminals/terminate': {
      queue: null,
      async handle({ threadId, processId }) {
        return { terminated: await threads.require(threadId).commands.terminate(processId) };
      },
    },

    'thread/backgroundTerminals/clean': {
      queue: null,
      async handle({ threadId }) {
        await threads.require(threadId).commands.clean();
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
