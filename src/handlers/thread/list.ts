import { isAbsolute, resolve } from 'node:path';
import { isUuid } from '../../base/ids.ts';
import { EMBEDDED_NAMES, isEmbeddedName } from '../../config/providers/embedded-names.ts';
import { invalidThreadId } from '../../protocol/errors/thread-errors.ts';
import type { ThreadListParams, ThreadSortKey } from '../../protocol/generated/types.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import type { ThreadQuery } from '../../store/page-query.ts';
import { pageLimit } from '../requested/list-page.ts';
import { type MethodTable, unqueued } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

/**
 * The sources that are listed if the request names none: those of threads that a person works in.
 */
const INTERACTIVE_SOURCES = ['cli', 'vscode'];

const SORT_KEYS: Record<ThreadSortKey, ThreadQuery['sortKey']> = {
  created_at: 'createdAt',
  updated_at: 'updatedAt',
  recency_at: 'recencyAt',
  // Only allowed within a section, and no thread is in a section.
  section_position: 'createdAt',
};

export function listMethods(deps: ThreadServices) {
  return {
    'thread/list': {
      order: unqueued,
      async handle(params) {
        check(params);
        if (asksForGroup(params)) return { data: [], nextCursor: null, backwardsCursor: null };
        const page = await deps.store.listThreads(await threadQuery(deps, params));
        return { ...page, data: page.data.map((record) => deps.threads.view(record)) };
      },
    },
  } satisfies Partial<MethodTable>;
}

function check(params: ThreadListParams): void {
  const { ancestorThreadId, attachedToThreadId, parentThreadId, excludedThreadIds } = params;
  if (parentThreadId != null && ancestorThreadId != null) {
    throw invalidParams(
      'params.parentThreadId and params.ancestorThreadId cannot be given together',
    );
  }
  if (params.sortKey === 'section_position' && params.sectionId == null) {
    throw invalidParams('params.sortKey: "section_position" needs params.sectionId');
  }
  if (params.includeAttachedThreads === true && !params.searchTerm) {
    throw invalidParams('params.includeAttachedThreads needs params.searchTerm');
  }
  for (const id of [
    parentThreadId,
    ancestorThreadId,
    attachedToThreadId,
    ...(excludedThreadIds ?? []),
  ]) {
    if (id != null && !isUuid(id)) throw invalidThreadId(id);
  }
}

/**
 * Whether the request lists a section, a project, or attached threads. No thread is in any of
 * these.
 */
function asksForGroup({ sectionId, projectId, attachedToThreadId }: ThreadListParams): boolean {
  return [sectionId, projectId, attachedToThreadId].some((group) => group != null);
}

async function threadQuery(deps: ThreadServices, params: ThreadListParams): Promise<ThreadQuery> {
  const { cwd, excludedThreadIds, originators, parentThreadId, ancestorThreadId } = params;
  return {
    cursor: params.cursor ?? null,
    limit: pageLimit(params.limit),
    direction: params.sortDirection ?? 'desc',
    sortKey: SORT_KEYS[params.sortKey ?? 'created_at'],
    archived: params.archived ?? false,
    modelProviders: await providers(deps, params),
    cwds:
      cwd == null
        ? null
        : [cwd].flat().map((folder) => (isAbsolute(folder) ? resolve(folder) : folder)),
    sources: sources(params),
    originators: originators?.length ? originators : null,
    parentId: parentThreadId?.toLowerCase() ?? null,
    ancestorId: ancestorThreadId?.toLowerCase() ?? null,
    excludedIds: excludedThreadIds?.map((id) => id.toLowerCase()) ?? null,
    searchTerm: params.searchTerm || null,
  };
}

/** The sources that are listed; null for all. */
function sources(params: ThreadListParams): string[] | null {
  if (params.sourceKinds?.length) return params.sourceKinds;
  return listsAgents(params) ? null : INTERACTIVE_SOURCES;
}

/**
 * Whether only the agents below a thread are listed: then the filters that a client leaves out do
 * not hide any of them.
 */
function listsAgents({ parentThreadId, ancestorThreadId }: ThreadListParams): boolean {
  return parentThreadId != null || ancestorThreadId != null;
}

/** The providers whose threads are listed; null for all providers. */
async function providers(
  { defaultProvider }: ThreadServices,
  params: ThreadListParams,
): Promise<string[] | null> {
  const { modelProviders } = params;
  if (modelProviders)
    return modelProviders.length === 0 ? null : modelProviders.flatMap(storedNames);
  if (listsAgents(params)) return null;
  const configured = await defaultProvider();
  return configured === null ? null : storedNames(configured);
}

/**
 * The names that the threads of a provider can have: older ones of the embedded model have another
 * one.
 */
function storedNames(provider: string): string[] {
  return isEmbeddedName(provider) ? [...EMBEDDED_NAMES] : [provider];
}
