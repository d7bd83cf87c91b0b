import { BuiltInTools } from '../../agent/calls/built-in-tools.ts';
import { invalidCursor } from '../../protocol/rpc-error.ts';
import { type MethodTable, pageLimit } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';

// In no queue: what is to be ended may keep the thread's other requests waiting.
export function backgroundTerminalMethods({ threads }: ThreadDeps) {
  return {
    'thread/backgroundTerminals/list': {
      queue: null,
      handle({ threadId, cursor, limit }) {
        const before = cursor == null ? Number.POSITIVE_INFINITY : numberIn(cursor);
        const all = threads
          .require(threadId)
          .part(BuiltInTools)
          .commands.running.filter(({ number }) => number < before);
        const page = all.slice(0, pageLimit(limit));
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
        return { terminated: await threads.require(threadId).part(BuiltInTools).commands.terminate(processId) };
      },
    },

    'thread/backgroundTerminals/clean': {
      queue: null,
      async handle({ threadId }) {
        await threads.require(threadId).part(BuiltInTools).commands.clean();
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}

/** The number of the last terminal that was shown; it may have ended since. */
function numberIn(cursor: string): number {
  const number = /^before-(\d+)$/.exec(cursor)?.[1];
  if (number === undefined) throw invalidCursor(cursor);
  return Number(number);
}
