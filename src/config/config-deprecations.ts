import type { DeprecationNoticeNotification } from '../protocol/generated/types.ts';
import { ConfigError } from './config-error.ts';
import { valueAt } from './layers/config-table.ts';
import type { Layer } from './layers/layer.ts';
import { type ConfigSources, loadConfig } from './load-config.ts';

const GUARDIAN = ['features', 'guardian_approval'];

/** What a client should know of settings that still count and should be replaced; none where the configuration cannot be read. */
export async function configDeprecations(sources: ConfigSources): Promise<DeprecationNoticeNotification[]> {
  try {
    const { layers } = await loadConfig(sources);
    return layers.filter(asksForGuardian).map(guardianNotice);
  } catch (error) {
    // configWarnings tells of it.
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

function asksForGuardian({ config, disabledReason }: Layer): boolean {
  return disabledReason === null && valueAt(config, GUARDIAN) === true;
}

function guardianNotice(layer: Layer): DeprecationNoticeNotification {
  const { path, range } = layer.locate(GUARDIAN);
  const location = path === null ? (layer.label ?? '') : `${path}${range === null ? '' : `:${range.start.line}`}`;
  return {
    summary: '`[features] guardian_approval` is deprecated. Use `approvals_reviewer = "guardian_subagent"` instead.',
    details: location === '' ? null : `It is set in ${location}.`,
  };
}
