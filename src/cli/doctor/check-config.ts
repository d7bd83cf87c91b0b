import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { REFUSED } from '../../config/config-problems.ts';
import { configWarnings, embeddedDefault } from '../../config/config-warnings.ts';
import { LOSS_DETAILS } from '../../config/keys/loss-of.ts';
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
  const config = await readable(sources);
  // The check of the provider tells about the embedded model.
  const others = new Set((config === null ? [] : embeddedDefault(config)).map(({ summary }) => summary));
  const warnings = (await configWarnings(sources, policyReads)).filter(({ summary }) => !others.has(summary));
  const ofRules = ruleWarnings(await commandRules(await readRuleFiles(sources.home)));
  const layers = config?.layers.map(shownLayer) ?? [];
  const names = layers.map(({ source, inForce }) => (inForce ? source : `${source} (not in force)`));
  const summary = config === null ? 'cannot be read' : names.join(', ');
  return { config, check: { name: 'configuration', summary, facts: { layers }, problems: [...warnings, ...ofRules].map(toProblem) } };
}

async function readable(sources: ConfigSources): Promise<Config | null> {
  try {
    return await loadConfig(sources);
  } catch (error) {
    if (error instanceof ConfigError) return null;
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

function correction(path: string | null, range: ConfigWarningNotification['range']): string {
  if (range !== null && range !== undefined) return 'Correct the value in this line.';
  return path === null ? 'Correct it where it is given.' : 'Correct the file.';
}

/** A setting that cannot be read is an error, unless only an MCP server is lost. Others have no effect, or another than it seems. */
function toProblem({ summary, details, path, range }: ConfigWarningNotification): DoctorProblem {
  const isInvalid = details !== null && (details === REFUSED || LOSS_DETAILS.includes(details));
  const severity = isInvalid ? 'error' : 'warning';
  return {
    severity,
    message: summary,
    fix: severity === 'error' ? correction(path, range) : details,
    ...(path === null ? {} : { file: path }),
    ...(range === null ? {} : { line: range.start.line, column: range.start.column }),
  };
}
