import type { SessionGrants } from '../policy/permissions/session-grants.ts';
import type { News } from './outbox/news.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { RawEvents } from './outbox/raw-events.ts';
import type { PromptHistory } from './prompt/prompt-history.ts';
import type { Services } from './services.ts';
import type { ThreadState } from './thread-state.ts';
import type { ThreadUsage } from './thread-usage.ts';
import type { TurnBeginnings } from './turn/turn-beginnings.ts';
import type { TurnParts } from './turn/turn-parts.ts';

/**
 * How a thread came to be loaded: a client started it, with a clear history, or it was resumed or
 * forked.
 */
export type ThreadOrigin = 'startup' | 'clear' | 'resume' | 'fork';

/** A loaded thread, as its parts, its calls and its turns see it. */
export interface ThreadContext {
  readonly id: string;
  readonly services: Services;
  /** How the thread came to be loaded. */
  readonly origin: ThreadOrigin;
  /** Its record, its configuration, its status and the turn that runs in it. */
  readonly state: ThreadState;
  readonly usage: ThreadUsage;
  readonly outbox: Outbox;
  readonly raw: RawEvents;
  readonly news: News;
  readonly history: PromptHistory;
  /** The permissions that users have granted in the thread. */
  readonly grants: SessionGrants;
  readonly beginnings: TurnBeginnings;
  /** Empty while the parts are being created. */
  readonly parts: TurnParts;
}
