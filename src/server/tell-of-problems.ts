import type { Log } from '../base/log.ts';
import type { ConfigSources } from '../config/load-config.ts';
import { configDeprecations } from '../config/problems/config-deprecations.ts';
import { configWarnings } from '../config/problems/config-warnings.ts';
import { readRuleFiles } from '../config/rules-files.ts';
import { policyReads } from '../policy/policy-reads.ts';
import { commandRules } from '../policy/rules/parse-rules.ts';
import { ruleWarnings } from '../policy/rules/rule-warnings.ts';
import {
  type NodeVersions,
  nativeBuildProblem,
} from '../store/sqlite/connect/native-build-problem.ts';
import type { Clients } from './clients.ts';

interface ProblemSources {
  sources: ConfigSources;
  nodeVersions?: NodeVersions;
  clients: Clients;
  log: Log;
}

/**
 * Sends a connection the warnings about the configuration, and one if threads cannot be stored with
 * this Node. Never rejects.
 */
export async function tellOfProblems(deps: ProblemSources, connection: number): Promise<void> {
  await Promise.all([tellOfConfig(deps, connection), tellOfStore(deps, connection)]);
}

async function tellOfConfig(
  { sources, clients, log }: ProblemSources,
  connection: number,
): Promise<void> {
  try {
    const [warnings, deprecations] = await Promise.all([
      configWarnings(sources, policyReads),
      configDeprecations(sources),
    ]);
    const ofRules = ruleWarnings(await commandRules(await readRuleFiles(sources.home)));
    for (const warning of [...warnings, ...ofRules])
      clients.publish({ connection }, 'configWarning', warning);
    for (const notice of deprecations) clients.publish({ connection }, 'deprecationNotice', notice);
  } catch (error) {
    log.error({ err: error }, 'reading the configuration failed');
  }
}

async function tellOfStore(
  { nodeVersions, clients, log }: ProblemSources,
  connection: number,
): Promise<void> {
  try {
    const problem = nodeVersions === undefined ? null : await nativeBuildProblem(nodeVersions);
    if (problem === null) return;
    log.error({ problem }, 'the store cannot be used');
    clients.publish({ connection }, 'configWarning', {
      summary: problem,
      details: null,
      path: null,
      range: null,
    });
  } catch (error) {
    log.error({ err: error }, 'looking at better-sqlite3 failed');
  }
}
