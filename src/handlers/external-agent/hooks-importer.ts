import { join } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import type { Config } from '../../config/config.ts';
import { HOOK_EVENTS } from '../../config/hooks/hook-events.ts';
import { parseHooks } from '../../config/hooks/parse-hooks.ts';
import { canonicalJson } from '../../config/layers/layer.ts';
import { emptyTable, isTable, valueAt } from '../../config/toml/config-table.ts';
import type { ConfigWriter } from '../config-writing/config-writer.ts';
import type { Configured } from '../config-writing/configured.ts';
import { type Importer, type Outcome, type Refused, SourceError, TakenError } from './found.ts';
import { isOccupied, putNewFile } from './put-new-file.ts';
import { readSource, readSourceJson } from './read-source.ts';
import type { Scope } from './scope.ts';
import { whyRefused } from './take-each.ts';

const SWITCHED_OFF =
  'switched off: to switch a hook on, set enabled = true in its [hooks.state] in config.toml';
const NOT_IN_FORCE = 'not in force before you trust the file';

/** The most events, groups of hooks and hooks of a file. Each hook takes a while to check. */
const PARTS_MAX = 400;

/** Variables that the other agent sets for its hooks, and heddle does not. */
const OWN_VARIABLE = /\$\{?CLAUDE_\w+/;

/**
 * Hooks, which go to a new hooks.json. None runs before the user has switched it on or trusted the
 * file.
 */
export function hooksImporter(deps: Pick<Configured, 'config' | 'configWriter'>): Importer {
  return {
    itemType: 'HOOKS',
    details: 'hooks',
    async look(scope) {
      const { events, refused } = await sourceHooks(scope);
      if (events.size === 0 && refused.length === 0) return null;
      const { target } = scope.hooks;
      const found = {
        description: `Migrate hooks from ${scope.folder} to ${target}`,
        names: [...events.keys()],
        refused,
      };
      if (isOccupied(target) && events.size > 0) {
        const text = await readSource(target, scope.cwd ?? '/').catch(() => null);
        const isSame = text === hooksText(wantedHooks(events, found.names));
        const message = `${target} exists already, and was not changed`;
        const all = isSame
          ? []
          : found.names.map((source) => ({ source, message, failureStage: 'write' as const }));
        return {
          ...found,
          names: [],
          refused: [...refused, ...all],
          take: () => Promise.resolve({ taken: [], refused: [] }),
        };
      }
      return { ...found, take: (names) => take(names, { events, scope, deps }) };
    },
  };
}

type Events = ReadonlyMap<string, readonly JsonObject[]>;

async function take(
  names: readonly string[],
  {
    events,
    scope,
    deps,
  }: { events: Events; scope: Scope; deps: Pick<Configured, 'config' | 'configWriter'> },
): Promise<Outcome> {
  const { target, isHome } = scope.hooks;
  try {
    const wanted = wantedHooks(events, names);
    if (isHome) await switchOff(wanted, target, deps.configWriter);
    // Records the files that a trusted project has now, so that this one is new, and not in force.
    else await deps.config(scope.cwd);
    await putNewFile(target, hooksText(wanted), isHome ? { cwd: null } : scope);
    const title = isHome ? SWITCHED_OFF : NOT_IN_FORCE;
    return { taken: names.map((name) => ({ source: name, target: name, title })), refused: [] };
  } catch (error) {
    const message = whyRefused(error);
    return {
      taken: [],
      refused: names.map((source) => ({ source, message, failureStage: 'write' })),
    };
  }
}

/**
 * The hooks of the home run without further consent, so those that another agent had are switched
 * off before they are there.
 */
async function switchOff(
  wanted: JsonObject,
  target: string,
  configWriter: ConfigWriter,
): Promise<void> {
  const { hooks } = parseHooks(wanted, target);
  const edits = ({ values }: Config) =>
    hooks.map(({ key }) => {
      // It is of a hook that was there before. It must neither be lost nor switch this one on.
      if (valueAt(values, ['hooks', 'state', key]) !== undefined)
        throw new TakenError(`config.toml has a [hooks.state] for ${key} already`);
      return {
        keyPath: `hooks.state."${key}".enabled`,
        value: false,
        mergeStrategy: 'replace' as const,
      };
    });
  await configWriter.write({ edits });
}

function wantedHooks(events: Events, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    [...events]
      .filter(([name]) => names.includes(name))
      .map(([name, groups]) => [name, [...groups]]),
  );
}

function hooksText(hooks: JsonObject): string {
  return `${JSON.stringify({ hooks }, null, 2)}\n`;
}

async function sourceHooks({
  folder,
  root,
}: Scope): Promise<{ events: Map<string, JsonObject[]>; refused: Refused[] }> {
  const events = new Map<string, JsonObject[]>();
  const refused: Refused[] = [];
  const breaks = new EventLoopYield();
  for (const file of ['settings.json', 'settings.local.json']) {
    const path = join(folder, file);
    try {
      const { hooks = emptyTable(), disableAllHooks = false } =
        (await readSourceJson(path, root)) ?? {};
      if (!isTable(hooks)) throw new SourceError(`${path}: hooks is not an object`);
      if (disableAllHooks === true) continue;
      if (countParts(hooks) > PARTS_MAX)
        throw new SourceError(
          `${path} has more than ${PARTS_MAX} hooks, groups of hooks and events`,
        );
      for (const [event, groups] of Object.entries(hooks))
        await addEvent(event, groups, { events, refused, breaks });
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      refused.push({ source: path, message: error.message, failureStage: 'read' });
    }
  }
  return { events, refused };
}

function countParts(hooks: JsonObject): number {
  const groups = Object.values(hooks).flatMap((of) => (Array.isArray(of) ? of : []));
  const inGroups = groups.reduce<number>(
    (sum, group) => sum + (isTable(group) && Array.isArray(group.hooks) ? group.hooks.length : 0),
    0,
  );
  return Object.keys(hooks).length + groups.length + inGroups;
}

interface Reading {
  events: Map<string, JsonObject[]>;
  refused: Refused[];
  breaks: EventLoopYield;
}

async function addEvent(
  event: string,
  groups: JsonValue,
  { events, refused, breaks }: Reading,
): Promise<void> {
  const refuse = (message: string) =>
    refused.push({ source: event, message, failureStage: 'select' });
  if (!HOOK_EVENTS.some(({ label }) => label === event)) refuse('heddle does not have this event');
  else if (!Array.isArray(groups)) refuse('it is not a list');
  else {
    for (const group of groups) {
      const kept = await keptGroup(event, group, { refuse, breaks });
      if (kept !== null) events.set(event, [...(events.get(event) ?? []), kept]);
    }
  }
}

/** The group with the hooks that heddle can run; null: there is none. */
async function keptGroup(
  event: string,
  group: JsonValue,
  { refuse, breaks }: { refuse: (message: string) => void; breaks: EventLoopYield },
): Promise<JsonObject | null> {
  if (!isTable(group) || !Array.isArray(group.hooks)) {
    refuse('a group of hooks has no list of hooks');
    return null;
  }
  const { hooks, ...others } = group;
  const kept: JsonValue[] = [];
  for await (const hook of inSlices(hooks, 1, breaks)) {
    const problem = problemWith(event, { ...others, hooks: [hook] });
    if (problem === null) kept.push(hook);
    else refuse(problem);
  }
  return kept.length === 0 ? null : { ...others, hooks: kept };
}

function problemWith(event: string, group: JsonObject): string | null {
  const variable = OWN_VARIABLE.exec(canonicalJson(group))?.[0];
  if (variable !== undefined) return `a hook uses ${variable}, which heddle does not set`;
  const { problems, advice } = parseHooks({ [event]: [group] }, '');
  return problems[0] ?? advice[0] ?? null;
}
