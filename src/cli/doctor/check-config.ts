import { parse } from 'node:path';
import type { Config } from '../../config/config.ts';
import { type Layer, layerVersion } from '../../config/layers/layer.ts';
import { type ConfigSources, loadConfig, ownSettings } from '../../config/load-config.ts';
import { configDeprecations } from '../../config/problems/config-deprecations.ts';
import { unreadable } from '../../config/problems/config-problems.ts';
import { allProblems } from '../../config/problems/config-warnings.ts';
import { readRuleFiles } from '../../config/rules-files.ts';
import { ConfigError } from '../../config/toml/config-error.ts';
import { judgeProjectFiles } from '../../config/trust/judge-project-files.ts';
import { policyReads } from '../../policy/policy-reads.ts';
import { commandRules } from '../../policy/rules/parse-rules.ts';
import { ruleWarnings } from '../../policy/rules/rule-warnings.ts';
import type { ConfigWarningNotification } from '../../protocol/generated/types.ts';
import type { DoctorCheck, DoctorProblem } from './doctor-check.ts';

/** The most files of a project that are told. */
const UNTRUSTED_MAX = 10;

/**
 * The result of the check, and the configuration for the other checks. Null: a file of the user
 * cannot be read.
 */
export interface CheckedConfig {
  check: DoctorCheck;
  config: Config | null;
}

/**
 * Reads all layers and the rules. If a file of the project cannot be read, the configuration is
 * that without the project.
 */
export async function checkConfig(sources: ConfigSources): Promise<CheckedConfig> {
  const loaded = await loadedOrError(sources);
  const other =
    loaded instanceof ConfigError
      ? await loadedOrError({ ...sources, cwd: parse(sources.cwd).root })
      : loaded;
  const config = other instanceof ConfigError ? null : other;
  // The check of the provider tells about the embedded model.
  const found =
    loaded instanceof ConfigError
      ? [unreadable(loaded)]
      : allProblems(loaded, sources, policyReads);
  const ofRules = ruleWarnings(await commandRules(await readRuleFiles(sources.home)));
  const layers = loaded instanceof ConfigError ? [] : loaded.layers.map(shownLayer);
  const names = layers.map(({ source, profile, inForce }) => {
    const isTable =
      profile !== null && layers.some((other) => other.source === source && other.profile === null);
    return `${source}${isTable ? ` (profile ${profile})` : ''}${inForce ? '' : ' (not in force)'}`;
  });
  const summary = loaded instanceof ConfigError ? 'cannot be read' : names.join(', ');
  const problems = [
    ...found.map(({ severity, fix, warning }) => toProblem(warning, { severity, fix })),
    ...ofRules.map((warning) =>
      toProblem(warning, { severity: 'warning', fix: warning.details ?? null }),
    ),
    ...(await configDeprecations(sources)).map(
      ({ summary, details }): DoctorProblem => ({
        severity: 'warning',
        message: details === null ? summary : `${summary} ${details}`,
        fix: null,
      }),
    ),
    ...(await untrustedFiles(sources)),
  ];
  return { config, check: { name: 'configuration', summary, facts: { layers }, problems } };
}

/** The files of the project that are not in force because the user has not trusted its folder. */
async function untrustedFiles(sources: ConfigSources): Promise<DoctorProblem[]> {
  const user = await readOrNull(() => ownSettings(sources));
  if (user === null) return [];
  const { files } = await judgeProjectFiles(
    { cwd: sources.cwd, home: sources.home, user },
    sources.trustedFiles,
  );
  return files.slice(0, UNTRUSTED_MAX).flatMap((file): DoctorProblem[] => {
    if (file.isInForce || file.isFolderTrusted) return [];
    const [why = file.reason, fix = null] = file.reason.split(/\. (?=To )/);
    const message = `${file.path} is not in force: ${why}`;
    return [
      {
        severity: 'warning',
        message,
        fix: fix === null ? 'Correct the file.' : `${fix}.`,
        file: file.path,
      },
    ];
  });
}

async function readOrNull<T>(read: () => Promise<T>): Promise<T | null> {
  const result = await loadedOr(read);
  return result instanceof ConfigError ? null : result;
}

function loadedOrError(sources: ConfigSources): Promise<Config | ConfigError> {
  return loadedOr(() => loadConfig(sources));
}

async function loadedOr<T>(load: () => Promise<T>): Promise<T | ConfigError> {
  try {
    return await load();
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

function toProblem(
  { summary, path, range }: ConfigWarningNotification,
  told: Pick<DoctorProblem, 'severity' | 'fix'>,
): DoctorProblem {
  const line =
    range === null || range === undefined
      ? {}
      : { line: range.start.line, column: range.start.column };
  return { ...told, message: summary, ...(path ? { file: path } : {}), ...line };
}
