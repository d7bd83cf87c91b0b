import type { ThreadGoals } from '../agent/goal/thread-goals.ts';
import type { Env } from '../base/env.ts';
import type { Config } from '../config/config.ts';
import type { ProviderConfig } from '../config/providers/provider-config.ts';
import type { FileWatches } from '../files/file-watches.ts';
import type { SkillFolders } from '../instructions/skills/skill-folders.ts';
import type { McpLogins } from '../mcp/mcp-logins.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import type { CredentialStore } from '../mcp/oauth/credential-store.ts';
import type { InstalledModels } from '../model/http/installed-models.ts';
import type { FileSearches } from '../search/file-searches.ts';
import { type AccountDeps, accountMethods } from './account.ts';
import { alwaysEmptyMethods } from './always-empty.ts';
import type { ClientProcesses } from './client-processes/client-processes.ts';
import { collaborationModeMethods } from './collaboration-mode/list.ts';
import { commandMethods } from './command.ts';
import { reloadMethods } from './config/mcp-server/reload.ts';
import { configMethods } from './config.ts';
import { configRequirementsMethods } from './config-requirements/read.ts';
import type { ConfigWriter } from './config-writing/config-writer.ts';
import { enablementMethods } from './experimental-feature/enablement/set.ts';
import { experimentalFeatureListMethods } from './experimental-feature/list.ts';
import { externalAgentConfigMethods } from './external-agent-config.ts';
import { feedbackSaveMethods } from './feedback/save.ts';
import { feedbackUploadMethods } from './feedback/upload.ts';
import { fsMethods } from './fs.ts';
import { fuzzyFileSearchMethods } from './fuzzy-file-search.ts';
import { getAuthStatusMethods } from './get-auth-status.ts';
import { getConversationSummaryMethods } from './get-conversation-summary.ts';
import { gitDiffToRemoteMethods } from './git-diff-to-remote.ts';
import { HistoryAnswers } from './history/history-answers.ts';
import { hooksListMethods } from './hooks/list.ts';
import { oauthMethods } from './mcp-server/oauth.ts';
import { mcpServerMethods } from './mcp-server.ts';
import { mcpServerStatusMethods } from './mcp-server-status/list.ts';
import { modelMethods } from './model/list.ts';
import { modelProviderMethods } from './model-provider.ts';
import { permissionProfileMethods } from './permission-profile/list.ts';
import { processMethods } from './process.ts';
import type { RequestMethods } from './requested/method.ts';
import { reviewMethods } from './review/start.ts';
import { type DiagnosticsDeps, serverMethods } from './server/diagnostics.ts';
import { skillsMethods } from './skills.ts';
import { archiveMethods } from './thread/archive.ts';
import { backgroundTerminalMethods } from './thread/background-terminals.ts';
import { compactMethods } from './thread/compact/start.ts';
import { deleteMethods } from './thread/delete.ts';
import { forkMethods } from './thread/fork.ts';
import { goalMethods } from './thread/goal.ts';
import { injectItemsMethods } from './thread/inject-items.ts';
import { itemsMethods } from './thread/items.ts';
import { listMethods } from './thread/list.ts';
import { loadedMethods } from './thread/loaded/list.ts';
import { memoryModeMethods } from './thread/memory-mode/set.ts';
import { metadataMethods } from './thread/metadata/update.ts';
import { nameMethods } from './thread/name/set.ts';
import { prepareApprovedPlanMethods } from './thread/prepare-approved-plan.ts';
import { readMethods } from './thread/read.ts';
import { resumeMethods } from './thread/resume.ts';
import { revertMethods } from './thread/revert.ts';
import { rollbackMethods } from './thread/rollback.ts';
import { sampleMethods } from './thread/sample.ts';
import { settingsMethods } from './thread/settings/update.ts';
import { shellCommandMethods } from './thread/shell-command.ts';
import { startMethods } from './thread/start.ts';
import { turnsMethods } from './thread/turns.ts';
import { unarchiveMethods } from './thread/unarchive.ts';
import { unsubscribeMethods } from './thread/unsubscribe.ts';
import { threadMethods } from './thread.ts';
import type { ThreadDeps } from './thread-loading/thread-deps.ts';
import { turnMethods } from './turn.ts';

export interface MethodDeps
  extends ThreadDeps,
    Pick<AccountDeps, 'loginWriter' | 'rateLimits' | 'announceAccount'> {
  diagnostics: DiagnosticsDeps;
  goals: ThreadGoals;
  fileWatches: FileWatches;
  fileSearches: FileSearches;
  mcp: McpServers;
  logins: McpLogins;
  credentials: CredentialStore;
  clientProcesses: ClientProcesses;
  /** The server's home folder. */
  home: string;
  /** The version of heddle. */
  version: string;
  platform: NodeJS.Platform;
  /** The server's own environment. */
  env: Env;
  /** The server's working directory. */
  cwd: string;
  /**
   * The configuration for a folder, by default the server's working directory. Reads the files at
   * each call.
   */
  config: (cwd?: string | null) => Promise<Config>;
  /** Changes config.toml. */
  configWriter: ConfigWriter;
  skillFolders: SkillFolders;
  /** The features that were switched while the server runs. */
  switched: Record<string, boolean>;
  /**
   * The models that a provider lists, or why it lists none. Never rejects; takes a second at most.
   */
  installedModels: (provider: ProviderConfig) => Promise<InstalledModels>;
}

/**
 * All methods that the server serves, but the handshake. Each is in the file of the longest prefix
 * of its name that exists.
 */
export function methodTable(parts: Omit<MethodDeps, 'answers'>): RequestMethods {
  const deps: MethodDeps = { ...parts, answers: new HistoryAnswers(parts) };
  return {
    ...feedbackSaveMethods(deps),
    ...feedbackUploadMethods(),
    ...startMethods(deps),
    ...resumeMethods(deps),
    ...forkMethods(deps),
    ...readMethods(deps),
    ...unsubscribeMethods(deps),
    ...turnsMethods(deps),
    ...itemsMethods(deps),
    ...listMethods(deps),
    ...loadedMethods(deps),
    ...nameMethods(deps),
    ...archiveMethods(deps),
    ...unarchiveMethods(deps),
    ...deleteMethods(deps),
    ...revertMethods(deps),
    ...rollbackMethods(deps),
    ...metadataMethods(deps),
    ...settingsMethods(deps),
    ...memoryModeMethods(deps),
    ...injectItemsMethods(deps),
    ...goalMethods(deps),
    ...threadMethods(deps),
    ...sampleMethods(deps),
    ...backgroundTerminalMethods(deps),
    ...compactMethods(deps),
    ...shellCommandMethods(deps),
    ...prepareApprovedPlanMethods(deps),
    ...collaborationModeMethods(),
    ...turnMethods(deps),
    ...reviewMethods(deps),
    ...modelMethods(deps),
    ...modelProviderMethods(deps),
    ...permissionProfileMethods(deps),
    ...accountMethods(deps),
    ...getAuthStatusMethods(deps),
    ...getConversationSummaryMethods(deps),
    ...gitDiffToRemoteMethods(deps),
    ...configMethods(deps),
    ...configRequirementsMethods(deps),
    ...experimentalFeatureListMethods(deps),
    ...enablementMethods(deps),
    ...externalAgentConfigMethods(deps),
    ...fsMethods(deps),
    ...hooksListMethods(deps),
    ...fuzzyFileSearchMethods(deps),
    ...mcpServerStatusMethods(deps),
    ...mcpServerMethods(deps),
    ...oauthMethods(deps),
    ...reloadMethods(deps),
    ...serverMethods(deps.diagnostics),
    ...skillsMethods(deps),
    ...commandMethods(deps),
    ...processMethods(deps),
    ...alwaysEmptyMethods(),
  };
}
