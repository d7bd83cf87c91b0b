import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { unreadable } from '../../config/config-problems.ts';
import { allProblems } from '../../config/config-warnings.ts';
import { type Layer, layerVersion } from '../../config/layers/layer.ts';
import { type ConfigSources, loadConfig } from '../../config/load-config.ts';
import { readRuleFiles } from '../../config/rules-files.ts';
import { policyReads } from '../../policy/permissions/policy-reads.ts';
import { commandRules } from '../../policy/rules/parse-rules.ts';
import { ruleWarnings } from '../../policy/rules/rule-warnings.ts';
import type { ConfigWarningNotification } from '../../protocol/generated/types.ts';
import type { DoctorCheck, DoctorProblem } from './doctor-check.ts';

/** Reads all layers and the rules. The configuration is null if a file cannot be read. */
export async function checkConfig(sources: ConfigSources): Promise<{ check: DoctorCheck; config: Config | null }> {
  const loaded = await loadedOrError(sources);
  const config = loaded instanceof ConfigError ? null : loaded;
  // The check of the provider tells about the embedded model.
  const found = loaded instanceof ConfigError ? [unreadable(loaded)] : allProblems(loaded, sources, policyReads);
  const ofRules = ruleWarnings(await commandRules(await readRuleFiles(sources.home)));
  const layers = config?.layers.map(shownLayer) ?? [];
  const names = layers.map(({ source, inForce }) => (inForce ? source : `${source} (not in force)`));
  const summary = config === null ? 'cannot be read' : names.join(', ');
  const problems = [
    ...found.map(({ severity, fix, warning }) => toProblem(warning, { severity, fix })),
    ...ofRules.map((warning) => toProblem(warning, { severity: 'warning', fix: warning.details ?? null })),
  ];
  return { config, check: { name: 'configuration', summary, facts: { layers }, problems } };
}

async function loadedOrError(sources: ConfigSources): Promise<Config | ConfigError> {
  try {
    return await loadConfig(sources);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

function shownLayer(layer: Layer) {
  const { name, disabledReason } = layer;
  return {
    type: name.type,
    source: layer.label ?? layer.locate([]).path ?? name.type,
    profile: name.type === 'user' ? name.profile : null,
    version: layerVersion(layer),
    inForce: disabledReason === null,
    disabledReason,
  };
}

function toProblem({ summary, path, range }: ConfigWarningNotification, told: Pick<DoctorProblem, 'severity' | 'fix'>): DoctorProblem {
  const line = range === null || range === undefined ? {} : { line: range.start.line, column: range.start.column };
  return { ...told, message: summary, ...(path ? { file: path } : {}), ...line };
}
