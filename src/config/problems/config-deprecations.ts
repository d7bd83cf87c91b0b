import type { DeprecationNoticeNotification } from '../../protocol/generated/types.ts';
import type { Layer } from '../layers/layer.ts';
import { type ConfigSources, loadConfig } from '../load-config.ts';
import { ConfigError } from '../toml/config-error.ts';
import { valueAt } from '../toml/config-table.ts';

const GUARDIAN = ['features', 'guardian_approval'];

/**
 * Returns a notice for each deprecated setting that is in effect. Returns none if the configuration
 * cannot be read.
 */
export async function configDeprecations(
  sources: ConfigSources,
): Promise<DeprecationNoticeNotification[]> {
  try {
    const { layers } = await loadConfig(sources);
    return layers.filter(asksForGuardian).map(guardianNotice);
  } catch (error) {
    // configWarnings reports it.
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

function asksForGuardian({ config, disabledReason }: Layer): boolean {
  return disabledReason === null && valueAt(config, GUARDIAN) === true;
}

function guardianNotice(layer: Layer): DeprecationNoticeNotification {
  const { path, range } = layer.locate(GUARDIAN);
  const location =
    path === null ? layer.label : `set in ${path}${range === null ? '' : `:${range.start.line}`}`;
  return {
    summary:
      '`[features] guardian_approval` is deprecated. Use `approvals_reviewer = "guardian_subagent"` instead.',
    details: location === null ? null : `It is ${location}.`,
  };
}
