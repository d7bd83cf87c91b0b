import { emptyField } from '../../protocol/rpc-error.ts';
import { USER_COMMAND_MS_MAX } from '../../tools/command/user-command.ts';
import { type MethodTable, perThread } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

export function shellCommandMethods({ threads }: ThreadServices) {
  return {
    'thread/shellCommand': {
      order: perThread,
      beginsTurn: true,
      async handle({ threadId, command, timeoutMs }, { after }) {
        const thread = threads.require(threadId);
        if (command.trim() === '') throw emptyField('empty_command', 'command');
        after(
          await thread.turns.runCommand({
            text: command,
            timeoutMs: Math.max(1, timeoutMs ?? USER_COMMAND_MS_MAX),
          }),
        );
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
