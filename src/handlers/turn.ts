import { checkToolOutput } from '../agent/prompt/tool-output-items.ts';
import { invalidParams } from '../protocol/rpc-error.ts';
import { checkRequestedSandbox } from './requested/check-requested-sandbox.ts';
import { type MethodTable, perThread, unqueued } from './requested/method.ts';
import { requestedModel } from './requested/requested-model.ts';
import { requireFolder } from './requested/require-folder.ts';
import { withEnvironment } from './requested/with-environment.ts';
import type { ThreadServices } from './thread-loading/thread-services.ts';

const ROOT_TURN_ID_CHARS_MAX = 256;

export function turnMethods({ threads, cwd }: ThreadServices) {
  return {
    'turn/start': {
      order: perThread,
      beginsTurn: true,
      async handle(given, { after, effective, caller }) {
        const params = withEnvironment(given);
        if (params.cwd) requireFolder(params.cwd, cwd);
        checkRequestedSandbox(params, 'sandboxPolicy');
        checkToolOutput(params);
        if ((params.rootTurnId ?? '').length > ROOT_TURN_ID_CHARS_MAX)
          throw invalidParams(
            `params.rootTurnId must have at most ${ROOT_TURN_ID_CHARS_MAX} characters`,
          );
        const thread = threads.require(params.threadId);
        const { turn, afterAnswer } = await thread.turns.start(
          { ...params, model: requestedModel(params) },
          effective,
        );
        after(() => {
          afterAnswer();
          // The client gets the response before the turn works, which takes milliseconds.
          caller.flush();
        });
        return { turn };
      },
    },

    'turn/steer': {
      order: perThread,
      async handle(params, { after, effective }) {
        const { turn, afterAnswer } = await threads
          .require(params.threadId)
          .turns.steer(params, effective);
        after(afterAnswer);
        return { turnId: turn.id };
      },
    },

    'turn/settings/update': {
      order: perThread,
      handle({ threadId, turnId, ...overrides }) {
        const thread = threads.require(threadId);
        return {
          status: thread.settingsChanges.changeTurn(turnId, {
            ...overrides,
            model: requestedModel(overrides),
          })
            ? 'applied'
            : 'targetUnavailable',
        };
      },
    },

    // No queue: an interrupt must not wait behind requests of other clients for the thread.
    'turn/interrupt': {
      order: unqueued,
      handle({ threadId, turnId }, { after }) {
        const thread = threads.require(threadId);
        const interrupt = thread.turns.interrupt(turnId);
        const { turn } = thread;
        const interruptAgents =
          turnId === '' || turn?.id === turnId
            ? threads.agents.interrupts.withTurn(threadId, turn)
            : null;
        after(() => {
          interrupt();
          interruptAgents?.();
        });
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
