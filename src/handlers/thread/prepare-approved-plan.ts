import { checkInput } from '../../agent/prompt/check-input.ts';
import { approvedPlanMessage } from '../../instructions/messages/approved-plan-message.ts';
import { turnActive } from '../../protocol/errors/turn-errors.ts';
import { emptyField } from '../../protocol/rpc-error.ts';
import { type MethodTable, perThread } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

/** The input for the turn that carries an approved plan out. */
const PROMPT = 'Implement the approved plan.';

export function prepareApprovedPlanMethods({ threads }: ThreadServices) {
  return {
    'thread/prepareApprovedPlan': {
      order: perThread,
      async handle({ threadId, markdown, attachmentPath }, { after, effective }) {
        const thread = threads.require(threadId);
        if (markdown.trim() === '') throw emptyField('empty_plan', 'markdown');
        checkInput([{ type: 'text', text: markdown, text_elements: [] }], { required: true });
        if (thread.turn !== null) throw turnActive(thread.turn.id, 'prepare a plan');
        const injected = thread.turns.inject(
          [approvedPlanMessage(markdown, attachmentPath || null)],
          'approval',
        );
        effective();
        after(await injected);
        return { prompt: PROMPT };
      },
    },
  } satisfies Partial<MethodTable>;
}
