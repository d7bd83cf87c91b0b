import type { Log } from '../../base/log.ts';
import type { SessionGrants } from '../../policy/permissions/session-grants.ts';
import type { Verdict } from '../../tools/action.ts';
import type { ThreadItems } from '../items/thread-items.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { ThreadUsage } from '../thread-usage.ts';
import type { ActionQuestion, ForPerson, Reviewer } from '../turn/reviewer.ts';
import type { TurnParts } from '../turn/turn-parts.ts';
import type { ClientQuestions } from './client-questions.ts';
import type { PerformedCall } from './performed-call.ts';

/** The collaborators that a thread's actions are performed with. */
export interface ActionDeps {
  parts: Pick<TurnParts, 'emit'>;
  guardian: Reviewer<ActionQuestion, Verdict | ForPerson>;
  person: Reviewer;
  questions: ClientQuestions;
  grants: SessionGrants;
  items: ThreadItems;
  outbox: Outbox;
  usage: Pick<ThreadUsage, 'aside'>;
  /** The call that prepared the action. Absent: the model did not call for it. */
  called?: PerformedCall;
  log: Log;
}
