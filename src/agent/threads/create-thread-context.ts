import { pathIdentity } from '../../base/paths/path-identity.ts';
import { SessionGrants } from '../../policy/permissions/session-grants.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import type { ThreadWriter } from '../../store/thread-store.ts';
import { News } from '../outbox/news.ts';
import { Outbox } from '../outbox/outbox.ts';
import { RawEvents } from '../outbox/raw-events.ts';
import { PromptHistory } from '../prompt/prompt-history.ts';
import type { Services } from '../services.ts';
import type { ThreadConfiguration } from '../settings/thread-configuration.ts';
import type { ThreadContext, ThreadOrigin } from '../thread-context.ts';
import { ThreadState } from '../thread-state.ts';
import { ThreadUsage } from '../thread-usage.ts';
import { TurnBeginnings } from '../turn/turn-beginnings.ts';
import type { TurnPart } from '../turn/turn-part.ts';
import type { TurnPartKind } from '../turn/turn-part-kind.ts';
import { TurnParts } from '../turn/turn-parts.ts';

/** The record, the writer and the configuration that a thread is loaded with. */
export interface ThreadSource {
  record: ThreadRecord;
  writer: ThreadWriter;
  configuration: ThreadConfiguration;
  origin: ThreadOrigin;
}

/** Creates the context of a loaded thread, and then its parts, one of each kind. */
export function createThreadContext(
  { record, writer, configuration, origin }: ThreadSource,
  services: Services,
  kinds: readonly TurnPartKind[],
): ThreadContext {
  const { id } = record;
  const { clients, store, runtime } = services;
  const state = new ThreadState(record, configuration);
  const raw = new RawEvents(id, { clients, ids: runtime.ids });
  const outbox = new Outbox({
    writer,
    announce: raw.announce,
    onAppended: (entries) => history.add(raw.take(entries)),
  });
  const history: PromptHistory = new PromptHistory({
    read: (cursor) => store.readModelEntries(id, { cursor }),
    outbox,
    budget: services.limits.promptBudget,
  });
  const made: TurnPart[] = [];
  const parts = new TurnParts(made, { threadId: id, log: runtime.log });
  const thread: ThreadContext = {
    id,
    services,
    origin,
    state,
    usage: new ThreadUsage(state, services.agents.usage, parts),
    outbox,
    raw,
    news: new News(),
    history,
    grants: new SessionGrants(pathIdentity),
    beginnings: new TurnBeginnings(),
    parts,
  };
  made.push(...kinds.map((kind) => kind.create(thread)));
  return thread;
}
