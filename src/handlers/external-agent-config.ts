import { Once } from '../base/loading/once.ts';
import type {
  ExternalAgentConfigImportHistory,
  ExternalAgentConfigImportTypeResult,
  ExternalAgentConfigWantedItem,
} from '../protocol/generated/types.ts';
import { invalidParams } from '../protocol/rpc-error.ts';
import type { ExternalAgentServices } from './external-agent/external-agent.ts';
import { beforeOthersIn, type MethodTable, unqueued } from './requested/method.ts';
import type { ThreadServices } from './thread-loading/thread-services.ts';

/** The files of each folder are read, so a request names a limited number. */
const CWDS_MAX = 100;
const ITEMS_MAX = 100;
/** The latest imports that are kept while the server runs. */
const HISTORIES_MAX = 50;

/** Without a name, the only agent that heddle knows is meant. */
const KNOWN_AGENTS: readonly string[] = ['claude', 'claude-code', 'claude_code', 'claudeCode'];

export function externalAgentConfigMethods(
  deps: ExternalAgentServices & Pick<ThreadServices, 'clients' | 'clock'>,
) {
  const { clients, clock, ids } = deps;
  const loaded = new Once(async () => {
    const { ExternalAgent, byType } = await import('./external-agent/external-agent.ts');
    return { agent: new ExternalAgent(deps), byType };
  });
  const histories: ExternalAgentConfigImportHistory[] = [];
  return {
    'externalAgentConfig/detect': {
      order: unqueued,
      async handle({ cwds, includeHome, source, migrationSource, maxSessions, maxSessionAgeDays }) {
        const named = cwds ?? [];
        if (named.length > CWDS_MAX)
          throw invalidParams(
            `cwds: at most ${CWDS_MAX} folders can be looked at once, found ${named.length}`,
          );
        if (unknownAgent(source, migrationSource) !== null) return { items: [], connectors: [] };
        const { agent } = await loaded.get();
        const limits = {
          sessionsMax: maxSessions ?? null,
          sessionDaysMax: maxSessionAgeDays ?? null,
        };
        const places = { includesHome: includeHome === true, cwds: named };
        return { items: await agent.detect({ ...places, ...limits }), connectors: [] };
      },
    },
    'externalAgentConfig/import': {
      order: beforeOthersIn(() => 'externalAgentConfig/import'),
      async handle(
        { migrationItems, source, migrationSource, providerId },
        { caller, after, effective },
      ) {
        if (migrationItems.length > ITEMS_MAX)
          throw invalidParams(
            `migrationItems: at most ${ITEMS_MAX} can be imported at once, found ${migrationItems.length}`,
          );
        requireKnownAgent(source, migrationSource);
        const { agent, byType } = await loaded.get();
        const importId = ids.next();
        const results: ExternalAgentConfigImportTypeResult[] = [];
        const tell = (
          method: 'externalAgentConfig/import/progress' | 'externalAgentConfig/import/completed',
          told: typeof results,
        ) =>
          clients.publish({ connection: caller.id }, method, { importId, itemTypeResults: told });
        const take = async (item: ExternalAgentConfigWantedItem) =>
          void results.push(await agent.take(item, caller.client?.clientInfo.name ?? null));
        for (const item of migrationItems.filter((one) => !isLong(one))) await take(item);
        effective();
        after(async () => {
          try {
            for (const one of results) tell('externalAgentConfig/import/progress', [one]);
            for (const item of migrationItems.filter(isLong)) {
              await take(item);
              tell('externalAgentConfig/import/progress', results.slice(-1));
            }
          } finally {
            histories.unshift(
              historyOf(results, { importId, providerId: providerId ?? null, at: clock.now() }),
            );
            histories.length = Math.min(histories.length, HISTORIES_MAX);
            tell('externalAgentConfig/import/completed', byType(results));
          }
        });
        return { importId };
      },
    },
    'externalAgentConfig/import/readHistories': {
      order: unqueued,
      handle: () => ({ data: [...histories], connectors: [] }),
    },
  } satisfies Partial<MethodTable>;
}

function historyOf(
  results: readonly ExternalAgentConfigImportTypeResult[],
  { importId, providerId, at }: { importId: string; providerId: string | null; at: number },
): ExternalAgentConfigImportHistory {
  const successes = results.flatMap((one) => one.successes);
  const failures = results.flatMap((one) => one.failures);
  return { importId, providerId, completedAtMs: at, successes, failures };
}

/** Whether it may take so long to take an item that the response does not wait for it. */
function isLong({ itemType }: ExternalAgentConfigWantedItem): boolean {
  return itemType === 'SESSIONS';
}

function requireKnownAgent(...named: (string | null | undefined)[]): void {
  const unknown = unknownAgent(...named);
  if (unknown !== null)
    throw invalidParams(
      `heddle does not know the agent ${JSON.stringify(unknown)}: it imports from Claude Code`,
    );
}

/** The agent that the params name and heddle does not know; null: none. */
function unknownAgent(...named: readonly (string | null | undefined)[]): string | null {
  return named.find((name) => typeof name === 'string' && !KNOWN_AGENTS.includes(name)) ?? null;
}
