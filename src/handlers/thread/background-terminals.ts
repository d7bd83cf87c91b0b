import { BuiltInTools } from '../../agent/calls/built-in-tools.ts';
import { invalidCursor } from '../../protocol/rpc-error.ts';
import { listPage, pageLimit } from '../requested/list-page.ts';
import { type MethodTable, unqueued } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

// No queue: the command to end may be what keeps the thread's other requests waiting.
export function backgroundTerminalMethods({ threads }: ThreadServices) {
  return {
    'thread/backgroundTerminals/list': {
      order: unqueued,
      handle({ threadId, cursor, limit }) {
        const before = cursor == null ? Number.POSITIVE_INFINITY : numberIn(cursor);
        const rest = threads
          .require(threadId)
          .part(BuiltInTools)
          .commands.running.filter(({ number }) => number < before);
        const page = listPage(rest, pageLimit(limit), ({ number }) => `before-${number}`);
        return {
          data: page.data.map(({ number, text, cwd, shown, program }) => ({
            itemId: shown.itemId,
            processId: String(number),
            command: text,
            cwd,
            osPid: program.pid,
            cpuPercent: null,
            rssKb: null,
          })),
          nextCursor: page.nextCursor,
        };
      },
    },

    'thread/backgroundTerminals/terminate': {
      order: unqueued,
      async handle({ threadId, processId }) {
        return {
          terminated: await threads
            .require(threadId)
            .part(BuiltInTools)
            .commands.terminate(processId),
        };
      },
    },

    'thread/backgroundTerminals/clean': {
      order: unqueued,
      async handle({ threadId }) {
        await threads.require(threadId).part(BuiltInTools).commands.clean();
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}

/** The number of the last terminal on the page before. That terminal may have ended since. */
function numberIn(cursor: string): number {
  const number = /^before-(\d+)$/.exec(cursor)?.[1];
  if (number === undefined) throw invalidCursor(cursor);
  return Number(number);
}
