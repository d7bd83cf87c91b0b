import type { Threads } from '../../agent/threads/threads.ts';
import type { Clock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import type { Ids } from '../../base/ids.ts';
import type { Config } from '../../config/config.ts';
import type {
  ExternalAgentConfigDetails,
  ExternalAgentConfigImportTypeResult,
  ExternalAgentConfigMigrationItem,
  ExternalAgentConfigWantedItem,
} from '../../protocol/generated/types.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import type { ConfigWriter } from '../config-writing/config-writer.ts';
import { agentsMdImporter } from './agents-md-importer.ts';
import { commandsImporter } from './commands-importer.ts';
import {
  type AskedItems,
  type Found,
  type Importer,
  type ItemType,
  type Outcome,
  type Refused,
  SourceError,
} from './found.ts';
import { hooksImporter } from './hooks-importer.ts';
import { mcpServersImporter } from './mcp-servers-importer.ts';
import { StateFile } from './read-source.ts';
import { homeScope, projectScope, type Scope, userHomeOf } from './scope.ts';
import { sessionsImporter } from './sessions-importer.ts';
import { settingsImporter } from './settings-importer.ts';
import { skillsImporter } from './skills-importer.ts';
import { subagentsImporter } from './subagents-importer.ts';
import { whyRefused } from './take-each.ts';

export interface ExternalAgentServices {
  /** heddle's home. */
  home: string;
  /** The server's own environment. */
  env: Env;
  ids: Ids;
  clock: Clock;
  threads: Pick<Threads, 'import'>;
  store: Pick<ThreadStore, 'getThread'>;
  config: (cwd?: string | null) => Promise<Config>;
  configWriter: ConfigWriter;
}

/** The most names in one item. */
const NAMES_MAX = 500;

type DetectOptions = { includesHome: boolean; cwds: readonly string[] } & Omit<AskedItems, 'names'>;

const EMPTY: ExternalAgentConfigDetails = {
  plugins: [],
  skills: [],
  sessions: [],
  mcpServers: [],
  hooks: [],
  subagents: [],
  commands: [],
};

/** Finds what another agent has configured, and takes it. */
export class ExternalAgent {
  readonly #deps: ExternalAgentServices;
  /** In the order in which clients see them. */
  readonly #importers: readonly Importer[];

  constructor(deps: ExternalAgentServices) {
    this.#deps = deps;
    this.#importers = [
      settingsImporter(deps),
      mcpServersImporter(deps),
      hooksImporter(deps),
      skillsImporter(deps.ids),
      agentsMdImporter,
      commandsImporter,
      subagentsImporter(deps),
      sessionsImporter(deps),
    ];
  }

  /**
   * Finds what can be taken from the home folder and from the projects of these folders, each once.
   * Only reads.
   */
  async detect({
    includesHome,
    cwds,
    ...limits
  }: DetectOptions): Promise<ExternalAgentConfigMigrationItem[]> {
    const homes = this.#homes();
    const scopes = [
      ...(includesHome ? [homeScope(homes)] : []),
      ...cwds.map((cwd) => projectScope(cwd, homes)),
    ];
    const distinct = new Map(
      scopes.filter((scope) => scope !== null).map((scope) => [scope.cwd, scope]),
    );
    const items: ExternalAgentConfigMigrationItem[] = [];
    for (const scope of distinct.values()) {
      for (const importer of this.#importers) {
        const found = await lookOr(
          importer,
          { scope, asked: { names: [], ...limits } },
          () => null,
        );
        if (found !== null && found.names.length > 0)
          items.push(migrationItem(importer, scope, found));
      }
    }
    return items;
  }

  /**
   * Takes what an item names, or all of its type. Never rejects for what cannot be taken: it is a
   * failure in the result.
   */
  async take(
    item: ExternalAgentConfigWantedItem,
    originator: string | null,
  ): Promise<ExternalAgentConfigImportTypeResult> {
    const { itemType, cwd = null, details } = item;
    const refuse = (message: string, failureStage: Refused['failureStage']): Outcome => ({
      taken: [],
      refused: [{ source: cwd, message, failureStage }],
    });
    const importer = this.#importers.find((one) => one.itemType === itemType);
    if (importer === undefined)
      return result(
        itemType,
        cwd,
        refuse(`heddle does not import items of the type ${itemType}`, 'select'),
      );
    const scope = cwd === null ? homeScope(this.#homes()) : projectScope(cwd, this.#homes());
    if (scope === null)
      return result(
        itemType,
        cwd,
        refuse(cwd === null ? 'the home folder is not known' : 'there is no such folder', 'read'),
      );
    const named = importer.details === null ? [] : (details?.[importer.details] ?? []);
    const names = named.map((one) => ('path' in one ? one.path : one.name));
    if (names.length > NAMES_MAX)
      return result(itemType, scope.cwd, refuse(`it names more than ${NAMES_MAX}`, 'select'));
    const asked = { names, sessionsMax: null, sessionDaysMax: null };
    return result(itemType, scope.cwd, await takeFrom(importer, { scope, asked, originator }));
  }

  #homes() {
    const { home, env } = this.#deps;
    const userHome = userHomeOf(env);
    return { home, env, state: userHome === null ? null : new StateFile(userHome) };
  }
}

function migrationItem(
  { itemType, details }: Importer,
  { cwd }: Scope,
  { description, names, sessions }: Found,
): ExternalAgentConfigMigrationItem {
  const named =
    details === null ? null : { ...EMPTY, [details]: sessions ?? names.map((name) => ({ name })) };
  return { itemType, description, cwd, details: named };
}

/** The results of one type after another, with all of its items. */
export function byType(
  results: readonly ExternalAgentConfigImportTypeResult[],
): ExternalAgentConfigImportTypeResult[] {
  const types = [...new Set(results.map(({ itemType }) => itemType))];
  return types.map((itemType) => {
    const own = results.filter((one) => one.itemType === itemType);
    return {
      itemType,
      successes: own.flatMap(({ successes }) => successes),
      failures: own.flatMap(({ failures }) => failures),
    };
  });
}

async function lookOr<T>(
  importer: Importer,
  { scope, asked }: { scope: Scope; asked: AskedItems },
  otherwise: (problem: SourceError) => T,
) {
  try {
    return await importer.look(scope, asked);
  } catch (error) {
    if (error instanceof SourceError) return otherwise(error);
    throw error;
  }
}

async function takeFrom(
  importer: Importer,
  { scope, asked, originator }: { scope: Scope; asked: AskedItems; originator: string | null },
): Promise<Outcome> {
  const { names: wanted } = asked;
  const failed = (
    { message }: { message: string },
    failureStage: Refused['failureStage'],
  ): Outcome => ({
    taken: [],
    refused: [{ source: null, message, failureStage }],
  });
  const found = await lookOr(importer, { scope, asked }, (problem) => failed(problem, 'read'));
  if (found === null) return { taken: [], refused: [] };
  if ('taken' in found) return found;
  const isWanted = (name: string | null) =>
    wanted.length === 0 || name === null || wanted.includes(name);
  const names = found.names.filter(isWanted);
  // A file that cannot be read may have had the wanted ones.
  const refused = found.refused.filter(
    ({ source }) => isWanted(source) || source?.includes('/') === true,
  );
  if (names.length === 0) return { taken: [], refused };
  try {
    const outcome = await found.take(names, originator);
    return { taken: outcome.taken, refused: [...refused, ...outcome.refused] };
  } catch (error) {
    return {
      taken: [],
      refused: [...refused, ...failed({ message: whyRefused(error) }, 'write').refused],
    };
  }
}

function result(
  itemType: ItemType,
  cwd: string | null,
  { taken, refused }: Outcome,
): ExternalAgentConfigImportTypeResult {
  return {
    itemType,
    successes: taken.map((one) => ({ itemType, cwd, ...one })),
    failures: refused.map((one) => ({
      itemType,
      cwd,
      errorType: null,
      subErrorType: null,
      ...one,
    })),
  };
}
