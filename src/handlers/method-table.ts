import type { ThreadGoals } from '../agent/goal/thread-goals.ts';
import type { ThreadQueues } from '../agent/queue/thread-queues.ts';
import type { Env } from '../base/env.ts';
import type { ProviderConfig } from '../config/providers/provider-config.ts';
import type { FileWatches } from '../files/file-watches.ts';
import type { InstalledModels } from '../model/http/installed-models.ts';
import type { FileSearches } from '../search/file-searches.ts';
import { type Accounts, accountMethods } from './account.ts';
import { alwaysEmptyMethods } from './always-empty.ts';
import type { ClientProcesses } from './client-processes/client-processes.ts';
import { collaborationModeMethods } from './collaboration-mode/list.ts';
import { commandMethods } from './command.ts';
import { reloadMethods } from './config/mcp-server/reload.ts';
import { configMethods } from './config.ts';
import { configRequirementsMethods } from './config-requirements/read.ts';
import type { Configured } from './config-writing/configured.ts';
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
import { type McpMethodServices, mcpServerStatusMethods } from './mcp-server-status/list.ts';
import { modelMethods } from './model/list.ts';
import { modelProviderMethods } from './model-provider.ts';
import { permissionProfileMethods } from './permission-profile/list.ts';
import { processMethods } from './process.ts';
import type { RequestMethods } from './requested/method.ts';
import { reviewMethods } from './review/start.ts';
import { connectionMethods } from './server/connection/close.ts';
import { type Diagnostics, serverMethods } from './server/diagnostics.ts';
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
import { queueMethods } from './thread/queue.ts';
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
import type { ThreadServices } from './thread-loading/thread-services.ts';
import { turnMethods } from './turn.ts';

/** The server and its machine. */
interface ServerFacts {
  /** The server's home folder. */
  home: string;
  /** The version of heddle. */
  version: string;
  platform: NodeJS.Platform;
  /** The server's own environment. */
  env: Env;
}

/** The services that the methods use, in groups. */
export interface MethodServices {
  threads: Omit<ThreadServices, 'answers'>;
  goals: ThreadGoals;
  queues: ThreadQueues;
  accounts: Accounts;
  mcp: Pick<McpMethodServices, 'mcp' | 'logins' | 'credentials'>;
  configured: Configured;
  /** Clients start these beside threads. */
  started: {
    fileWatches: FileWatches;
    fileSearches: FileSearches;
    clientProcesses: ClientProcesses;
  };
  server: ServerFacts;
  diagnostics: Diagnostics;
  /**
   * The models that a provider lists, or why it lists none. Never rejects; takes a second at most.
   */
  installedModels: (provider: ProviderConfig) => Promise<InstalledModels>;
}

/**
 * All methods that the server serves, but the handshake. Each is in the file of the longest prefix
 * of its name that exists.
 */
export function methodTable(deps: MethodServices): RequestMethods {
  const threads: ThreadServices = {
    ...deps.threads,
    answers: new HistoryAnswers(deps.threads.store, deps.threads.threads),
  };
  const {
    accounts,
    configured,
    diagnostics,
    goals,
    installedModels,
    mcp,
    queues,
    server,
    started,
  } = deps;
  const withConfig = { ...threads, ...configured };
  const ofMcp = { ...withConfig, ...mcp };
  const ofProcesses = { ...withConfig, ...started, ...server };
  return {
    ...feedbackSaveMethods({ ...ofMcp, ...server, diagnostics }),
    ...feedbackUploadMethods(),
    ...rowsOfThreads(threads),
    ...goalMethods({ goals }),
    ...queueMethods({ ...threads, queues }),
    ...collaborationModeMethods(),
    ...turnMethods(threads),
    ...reviewMethods(threads),
    ...modelMethods({ ...configured, installedModels }),
    ...modelProviderMethods(configured),
    ...permissionProfileMethods(configured),
    ...accountMethods({ ...withConfig, ...accounts }),
    ...getAuthStatusMethods(configured),
    ...getConversationSummaryMethods({ ...threads, ...server }),
    ...gitDiffToRemoteMethods(ofProcesses),
    ...configMethods(withConfig),
    ...configRequirementsMethods(configured),
    ...experimentalFeatureListMethods(withConfig),
    ...enablementMethods(withConfig),
    ...externalAgentConfigMethods({ ...withConfig, ...server }),
    ...fsMethods(started),
    ...hooksListMethods(withConfig),
    ...fuzzyFileSearchMethods(started),
    ...mcpServerStatusMethods(ofMcp),
    ...mcpServerMethods(ofMcp),
    ...oauthMethods(ofMcp),
    ...reloadMethods(threads),
    ...serverMethods(diagnostics),
    ...connectionMethods(diagnostics),
    ...skillsMethods(withConfig),
    ...commandMethods(ofProcesses),
    ...processMethods(ofProcesses),
    ...alwaysEmptyMethods(),
  };
}

function rowsOfThreads(threads: ThreadServices) {
  return {
    ...startMethods(threads),
    ...resumeMethods(threads),
    ...forkMethods(threads),
    ...readMethods(threads),
    ...unsubscribeMethods(threads),
    ...turnsMethods(threads),
    ...itemsMethods(threads),
    ...listMethods(threads),
    ...loadedMethods(threads),
    ...nameMethods(threads),
    ...archiveMethods(threads),
    ...unarchiveMethods(threads),
    ...deleteMethods(threads),
    ...revertMethods(threads),
    ...rollbackMethods(threads),
    ...metadataMethods(threads),
    ...settingsMethods(threads),
    ...memoryModeMethods(threads),
    ...injectItemsMethods(threads),
    ...threadMethods(threads),
    ...sampleMethods(threads),
    ...backgroundTerminalMethods(threads),
    ...compactMethods(threads),
    ...shellCommandMethods(threads),
    ...prepareApprovedPlanMethods(threads),
  };
}
