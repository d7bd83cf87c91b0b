import type { LoadedThread } from '../agent/loaded-thread.ts';
import type { Config } from '../config/config.ts';
import { FEATURE_LIST, findFeature, shownFeatures } from '../config/features/feature-list.ts';
import type { MethodTable } from './method.ts';
import { pageByPosition } from './requested/list-page.ts';
import type { ThreadDeps } from './thread-deps.ts';

interface FeatureDeps extends Pick<ThreadDeps, 'clients' | 'threads'> {
  config: () => Promise<Config>;
  /** The features that were switched while the server runs. Every configuration that is read has them. */
  switched: Record<string, boolean>;
}

export function experimentalFeatureMethods({ clients, config, switched, threads }: FeatureDeps) {
  return {
    'experimentalFeature/list': {
      queue: null,
      async handle({ cursor, limit, threadId = null }) {
        return pageByPosition(shownFeatures(await (threadId === null ? config() : configOf(threads.require(threadId)))), { cursor, limit });
      },
    },
    'experimentalFeature/enablement/set': {
      queue: null,
      first: true,
      async handle({ enablement }, { caller, after }) {
        const known = Object.entries(enablement).filter(([name]) => findFeature(name) !== null);
        // If the configuration cannot be read, the request fails and switches nothing.
        await config();
        Object.assign(switched, Object.fromEntries(known));
        const warnings = [unknownFeatures(enablement), ...keptFeatures(known, await config())];
        after(() => {
          for (const summary of warnings) {
            if (summary === null) continue;
            clients.publish({ connection: caller.id }, 'configWarning', { summary, details: null, path: null, range: null });
          }
        });
        return { enablement: Object.fromEntries(known) };
      },
    },
  } satisfies Partial<MethodTable>;
}

/** The configuration of a thread, after a reload that a client has asked for before. */
async function configOf(thread: LoadedThread): Promise<Config> {
  await thread.turnBegun();
  return thread.configuration.config;
}

/** Clients switch features that only other servers have, so these are not refused. */
function unknownFeatures(enablement: Record<string, boolean>): string | null {
  const unknown = Object.keys(enablement).filter((name) => findFeature(name) === null);
  if (unknown.length === 0) return null;
  const known = FEATURE_LIST.map(({ name }) => name).join(', ');
  return `These features were not switched, because heddle does not have them: ${unknown.join(', ')}. It has: ${known}.`;
}

/** Says which of the features are not as they were switched, because something else decides about them. */
function keptFeatures(known: readonly (readonly [string, boolean])[], config: Config): string[] {
  const enabled = new Map(shownFeatures(config).map((feature) => [feature.name, feature.enabled]));
  const kept = known.flatMap(([name, wanted]) => (enabled.get(name) === wanted ? [] : [name]));
  const required = kept.filter((name) => config.requirements.features?.[name] !== undefined);
  const configured = kept.filter((name) => !required.includes(name));
  const { path: file } = config.requirements.source.locate([]);
  return [
    ...(required.length === 0 ? [] : [`These features stay as ${file} requires them: ${listed(required)}.`]),
    ...(configured.length === 0
      ? []
      : [`These features stay as the configuration sets them: ${listed(configured)}. Change them with config/value/write.`]),
  ];
}

function listed(names: readonly string[]): string {
  return names.map((name) => `features.${name}`).join(', ');
}
