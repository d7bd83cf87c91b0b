import type { Config } from '../../../config/config.ts';
import { FEATURE_LIST, findFeature, shownFeatures } from '../../../config/features/feature-list.ts';
import type { Configured } from '../../config-writing/configured.ts';
import { beforeOthers, type MethodTable } from '../../requested/method.ts';
import type { ThreadServices } from '../../thread-loading/thread-services.ts';

export function enablementMethods({
  clients,
  config,
  switched,
}: Pick<Configured, 'config' | 'switched'> & Pick<ThreadServices, 'clients'>) {
  return {
    'experimentalFeature/enablement/set': {
      order: beforeOthers,
      async handle({ enablement }, { caller, after }) {
        const known = Object.entries(enablement).filter(([name]) => findFeature(name) !== null);
        // If the configuration cannot be read, the request fails and switches nothing.
        await config();
        Object.assign(switched, Object.fromEntries(known));
        const warnings = [unknownFeatures(enablement), ...keptFeatures(known, await config())];
        after(() => {
          for (const summary of warnings) {
            if (summary === null) continue;
            clients.publish({ connection: caller.id }, 'configWarning', {
              summary,
              details: null,
              path: null,
              range: null,
            });
          }
        });
        return { enablement: Object.fromEntries(known) };
      },
    },
  } satisfies Partial<MethodTable>;
}

/** Clients switch features that only other servers have, so these are not refused. */
function unknownFeatures(enablement: Record<string, boolean>): string | null {
  const unknown = Object.keys(enablement).filter((name) => findFeature(name) === null);
  if (unknown.length === 0) return null;
  const known = FEATURE_LIST.map(({ name }) => name).join(', ');
  return `These features were not switched, because heddle does not have them: ${unknown.join(', ')}. It has: ${known}.`;
}

/**
 * Says which of the features are not as they were switched, because something else decides about
 * them.
 */
function keptFeatures(known: readonly (readonly [string, boolean])[], config: Config): string[] {
  const enabled = new Map(shownFeatures(config).map((feature) => [feature.name, feature.enabled]));
  const kept = known.flatMap(([name, wanted]) => (enabled.get(name) === wanted ? [] : [name]));
  const required = kept.filter((name) => config.requirements.features?.[name] !== undefined);
  const configured = kept.filter((name) => !required.includes(name));
  const { path: file } = config.requirements.source.locate([]);
  return [
    ...(required.length === 0
      ? []
      : [`These features stay as ${file} requires them: ${listed(required)}.`]),
    ...(configured.length === 0
      ? []
      : [
          `These features stay as the configuration sets them: ${listed(configured)}. Change them with config/value/write.`,
        ]),
  ];
}

function listed(names: readonly string[]): string {
  return names.map((name) => `features.${name}`).join(', ');
}
