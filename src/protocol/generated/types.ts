// Generated from schema/ by `npm run generate`. Do not edit.

/**
 * An empty list.
 *
 * @maxItems 0
 */
export type EmptyList = [];
/**
 * An absolute path. Methods refuse relative paths.
 */
export type AbsolutePathBuf = string;
export type PluginListMarketplaceKind = 'local' | 'vertical' | 'workspace-directory' | 'shared-with-me' | 'created-by-me-remote';
export type PluginSearchScope = 'global' | 'workspace' | 'personal';
export type PluginShareListParams = Record<string, never>;
export type RemoteControlClientsListOrder = 'asc' | 'desc';
export type ThreadRealtimeListVoicesParams = Record<string, never>;
export type Account =
  | {
      type: 'apiKey';
    }
  | {
      type: 'chatgpt';
      email: string | null;
      planType: PlanType;
    };
export type PlanType =
  | 'free'
  | 'go'
  | 'plus'
  | 'pro'
  | 'prolite'
  | 'promax'
  | 'team'
  | 'self_serve_business_prolite'
  | 'self_serve_business_usage_based'
  | 'business'
  | 'ent26'
  | 'enterprise_cbp_automation'
  | 'enterprise_cbp_usage_based'
  | 'enterprise'
  | 'edu'
  | 'edu_plus'
  | 'edu_pro'
  | 'sci'
  | 'sci_plus'
  | 'unknown';
/**
 * Types other than `apiKey` are refused.
 */
export type LoginAccountParams =
  | {
      type: 'apiKey';
      apiKey: string;
    }
  | {
      type: 'chatgpt';
      /**
       * Has no effect: this kind of login is refused.
       */
      appBrand?: string | null;
      /**
       * Has no effect: this kind of login is refused.
       */
      codexStreamlinedLogin?: boolean | null;
      /**
       * Has no effect: this kind of login is refused.
       */
      useHostedLoginSuccessPage?: boolean | null;
    }
  | {
      type: 'chatgptDeviceCode';
    }
  | {
      type: 'chatgptAuthTokens';
      /**
       * Has no effect: this kind of login is refused.
       */
      accessToken: string;
      /**
       * Has no effect: this kind of login is refused.
       */
      chatgptAccountId: string;
      /**
       * Has no effect: this kind of login is refused.
       */
      chatgptPlanType?: string | null;
    }
  | {
      type: 'amazonBedrock';
      apiKey: string;
      /**
       * Has no effect: this kind of login is refused.
       */
      region: string;
    }
  | {
      type: 'amazonBedrockAccessKeys';
      /**
       * Has no effect: this kind of login is refused.
       */
      accessKeyId: string;
      /**
       * Has no effect: this kind of login is refused.
       */
      region: string;
      /**
       * Has no effect: this kind of login is refused.
       */
      secretAccessKey: string;
      /**
       * Has no effect: this kind of login is refused.
       */
      sessionToken?: string | null;
    };
export type LogoutAccountResponse = Record<string, never>;
export type AuthMode = 'apikey';
/**
 * The request is about a command of the agent, input for a running command, or a command of the user.
 */
export type CommandExecutionApprovalKind = 'command' | 'writeStdin' | 'humanCommand';
export type CommandAction =
  | {
      type: 'read';
      command: string;
      /**
       * The name of the file.
       */
      name: string;
      path: AbsolutePathBuf;
    }
  | {
      type: 'listFiles';
      command: string;
      path?: string | null;
    }
  | {
      type: 'search';
      command: string;
      query?: string | null;
      path?: string | null;
    }
  | {
      type: 'unknown';
      command: string;
    };
export type FileSystemPath =
  | {
      type: 'path';
      path: string;
    }
  | {
      type: 'glob_pattern';
      pattern: string;
    }
  | {
      type: 'special';
      value: FileSystemSpecialPath;
    };
export type FileSystemAccessMode = 'read' | 'write' | 'deny' | 'none';
/**
 * `accept` runs the command. `acceptForSession` also runs the same command in the same working directory without asking, until the thread is unloaded. `decline` refuses it, and the turn continues. `cancel` refuses it and interrupts the turn.
 */
export type CommandExecutionApprovalDecision =
  | ('accept' | 'acceptForSession' | 'decline' | 'cancel')
  | {
      acceptWithExecpolicyAmendment: {
        execpolicy_amendment: string[];
      };
    }
  | {
      applyNetworkPolicyAmendment: {
        network_policy_amendment: NetworkPolicyAmendment;
      };
    };
/**
 * `accept` makes the changes. `acceptForSession` also makes later changes to the same files without asking, until the thread is unloaded. `decline` refuses them, and the turn continues. `cancel` refuses them and interrupts the turn.
 */
export type FileChangeApprovalDecision = 'accept' | 'acceptForSession' | 'decline' | 'cancel';
/**
 * The collaboration mode.
 */
export type ModeKind = 'plan' | 'default';
/**
 * The reasoning effort. The values depend on the model: none, minimal, low, medium, high, xhigh, max …
 */
export type ReasoningEffort = string;
/**
 * The sandbox policy: the files that commands can read and write, and their network access.
 */
export type SandboxPolicy =
  | {
      type: 'dangerFullAccess';
    }
  | {
      type: 'readOnly';
      access?: ReadOnlyAccess | null;
      /**
       * Whether commands can use the network. False if absent.
       */
      networkAccess?: boolean | null;
    }
  | {
      type: 'externalSandbox';
      networkAccess?: NetworkAccess | null;
    }
  | {
      type: 'workspaceWrite';
      writableRoots?: AbsolutePathBuf[] | null;
      readOnlyAccess?: ReadOnlyAccess | null;
      /**
       * Whether commands can use the network. False if absent.
       */
      networkAccess?: boolean | null;
      /**
       * Whether $TMPDIR is read-only. False if absent.
       */
      excludeTmpdirEnvVar?: boolean | null;
      /**
       * Whether /tmp is read-only. False if absent.
       */
      excludeSlashTmp?: boolean | null;
    };
/**
 * The files that a sandboxed command can read. All files if absent.
 */
export type ReadOnlyAccess =
  | {
      type: 'fullAccess';
    }
  | {
      type: 'restricted';
      readableRoots?: AbsolutePathBuf[] | null;
      /**
       * Also allows the system's files that programs commonly need. True if absent.
       */
      includePlatformDefaults?: boolean | null;
    };
/**
 * Whether the client's sandbox lets commands use the network.
 */
export type NetworkAccess = 'restricted' | 'enabled';
export type CommandExecWriteResponse = Record<string, never>;
export type CommandExecResizeResponse = Record<string, never>;
export type CommandExecTerminateResponse = Record<string, never>;
export type CommandExecOutputStream = 'stdout' | 'stderr';
/**
 * The approval policy: when the agent asks before it acts. One policy for everything, or a choice for each kind of request.
 */
export type AskForApproval =
  | ('untrusted' | 'on-failure' | 'on-request' | 'never')
  | {
      granular: GranularApproval;
    };
/**
 * The reviewer that answers approval requests: the user, or the guardian model (`auto_review`; `guardian_subagent` is its older name).
 */
export type ApprovalsReviewer = 'user' | 'auto_review' | 'guardian_subagent';
/**
 * The kind of sandbox policy. The configuration sets the details.
 */
export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access';
export type WebSearchMode = 'disabled' | 'cached' | 'indexed' | 'live';
/**
 * The level of detail of the reasoning summary.
 */
export type ReasoningSummary = 'auto' | 'concise' | 'detailed' | 'none';
export type Verbosity = 'low' | 'medium' | 'high';
export type ConfigLayerSource =
  | {
      type: 'system';
      file: AbsolutePathBuf;
    }
  | {
      type: 'user';
      file: AbsolutePathBuf;
      profile: string | null;
    }
  | {
      type: 'project';
      dotCodexFolder: AbsolutePathBuf;
    }
  | {
      type: 'sessionFlags';
    };
/**
 * `upsert` merges a table into the one that is there. `replace` replaces it. Other values are replaced in any case.
 */
export type MergeStrategy = 'replace' | 'upsert';
/**
 * `okOverridden`: the change was made, but another layer overrides it.
 */
export type WriteStatus = 'ok' | 'okOverridden';
/**
 * This server sends `beta`, `stable` and `deprecated`.
 */
export type ExperimentalFeatureStage = 'beta' | 'underDevelopment' | 'stable' | 'deprecated' | 'removed';
export type RequestId = string | number;
export type ServerDiagnosticsParams = Record<string, never>;
export type ExternalAgentConfigMigrationItemType =
  'AGENTS_MD' | 'CONFIG' | 'SKILLS' | 'PLUGINS' | 'MCP_SERVER_CONFIG' | 'SUBAGENTS' | 'HOOKS' | 'COMMANDS' | 'MEMORY' | 'SESSIONS';
export type FsWriteFileResponse = Record<string, never>;
export type FsCreateDirectoryResponse = Record<string, never>;
export type FsRemoveResponse = Record<string, never>;
export type FsCopyResponse = Record<string, never>;
export type FsUnwatchResponse = Record<string, never>;
/**
 * Only while the goal is `active`, an idle thread starts turns by itself. `blocked`: the agent cannot continue alone, a turn failed, or the agent took too many turns by itself. `usageLimited`: the provider's usage limit was reached. `budgetLimited`: the goal's token budget is used up.
 */
export type ThreadGoalStatus = 'active' | 'paused' | 'blocked' | 'usageLimited' | 'budgetLimited' | 'complete';
/**
 * Whether a person asked for the change or the client made it automatically. Has no effect.
 */
export type ThreadGoalMutationOrigin = 'user' | 'automatic';
/**
 * `denied` is also the status of a review that failed. `aborted`: the turn was interrupted during the review.
 */
export type GuardianApprovalReviewStatus = 'inProgress' | 'approved' | 'denied' | 'timedOut' | 'aborted';
export type GuardianRiskLevel = 'low' | 'medium' | 'high' | 'critical';
/**
 * How clearly the user asked for the action.
 */
export type GuardianUserAuthorization = 'unknown' | 'low' | 'medium' | 'high';
/**
 * `unifiedExec`: a command that can run on in the background.
 */
export type GuardianCommandSource = 'shell' | 'unifiedExec';
export type NetworkApprovalProtocol = 'http' | 'https' | 'socks5Tcp' | 'socks5Udp';
/**
 * The action that is reviewed. This server does not send `execve` and `writeStdin`: input for a running command is a `command` with `stdin`.
 */
export type GuardianApprovalReviewAction =
  | {
      type: 'command';
      command: string;
      cwd: string;
      source: GuardianCommandSource;
      /**
       * The input for the command, which runs already. Null: the command itself is reviewed.
       */
      stdin: string | null;
    }
  | {
      type: 'execve';
      source: GuardianCommandSource;
      program: string;
      argv: string[];
      cwd: string;
    }
  | {
      type: 'writeStdin';
      approvalId: string;
      processId: string;
      cwd: string;
      stdin: string;
    }
  | {
      type: 'applyPatch';
      cwd: string;
      /**
       * Absolute paths.
       */
      files: string[];
    }
  | {
      type: 'networkAccess';
      target: string;
      host: string;
      protocol: NetworkApprovalProtocol;
      port: number;
    }
  | {
      type: 'mcpToolCall';
      server: string;
      toolName: string;
      toolTitle: string | null;
      connectorId: string | null;
      connectorName: string | null;
    }
  | {
      type: 'requestPermissions';
      reason: string | null;
      permissions: RequestPermissionProfile;
    };
export type AutoReviewDecisionSource = 'agent';
export type ThreadApproveGuardianDeniedActionResponse = Record<string, never>;
export type GuardianAssessmentOutcome = 'allow' | 'deny';
export type HookEventName =
  | 'preModelRequest'
  | 'postModelRequest'
  | 'preToolUse'
  | 'permissionRequest'
  | 'postToolUse'
  | 'preCompact'
  | 'postCompact'
  | 'sessionStart'
  | 'sessionEnd'
  | 'userPromptSubmit'
  | 'subagentStart'
  | 'subagentStop'
  | 'stop'
  | 'interrupt';
/**
 * `async`: nobody waits for the hook, and it decides nothing.
 */
export type HookExecutionMode = 'sync' | 'async';
export type HookHandlerType = 'command' | 'mcpTool' | 'prompt' | 'agent';
/**
 * `warning`: for the user. `stop`: why the hook stops the work. `feedback`: why it refuses, for the model. `context`: for the model. `error`: why the hook failed.
 */
export type HookOutputEntryKind = 'warning' | 'stop' | 'feedback' | 'context' | 'error';
/**
 * `blocked`: the hook refuses. `stopped`: it stops the work.
 */
export type HookRunStatus = 'running' | 'completed' | 'failed' | 'blocked' | 'stopped';
export type HookScope = 'thread' | 'turn';
export type HookSource =
  | 'system'
  | 'user'
  | 'project'
  | 'mdm'
  | 'sessionFlags'
  | 'plugin'
  | 'cloudRequirements'
  | 'cloudManagedConfig'
  | 'legacyManagedConfigFile'
  | 'legacyManagedConfigMdm'
  | 'unknown';
/**
 * Only `managed` and `trusted` hooks run. `modified`: the definition has changed since the user trusted it.
 */
export type HookTrustStatus = 'managed' | 'untrusted' | 'trusted' | 'modified';
export type HookMetadata =
  | {
      handlerType: 'command';
      command: string;
      /**
       * True: nobody waits for the hook.
       */
      async: boolean;
      /**
       * Identifies the hook in `[hooks.state]` of config.toml.
       */
      key: string;
      eventName: HookEventName;
      /**
       * Null: the hook is for every call, or the event has none.
       */
      matcher: string | null;
      timeoutSec: number;
      statusMessage: string | null;
      /**
       * The most tokens of context that the hook can give to the model.
       */
      additionalContextLimit: number | null;
      /**
       * The absolute path of the file that defines the hook.
       */
      sourcePath: string;
      source: HookSource;
      /**
       * Always null.
       */
      pluginId: string | null;
      /**
       * Always null.
       */
      environmentId: string | null;
      displayOrder: number;
      /**
       * False: `[hooks.state]` switches the hook off.
       */
      enabled: boolean;
      /**
       * True: an administrator defines the hook, so `[hooks.state]` of the user does not count.
       */
      isManaged: boolean;
      /**
       * A hash of the definition. `trusted_hash` in `[hooks.state]` is compared with it.
       */
      currentHash: string;
      trustStatus: HookTrustStatus;
    }
  | {
      handlerType: 'mcpTool';
      server: string;
      tool: string;
      /**
       * Identifies the hook in `[hooks.state]` of config.toml.
       */
      key: string;
      eventName: HookEventName;
      /**
       * Null: the hook is for every call, or the event has none.
       */
      matcher: string | null;
      timeoutSec: number;
      statusMessage: string | null;
      /**
       * The most tokens of context that the hook can give to the model.
       */
      additionalContextLimit: number | null;
      /**
       * The absolute path of the file that defines the hook.
       */
      sourcePath: string;
      source: HookSource;
      /**
       * Always null.
       */
      pluginId: string | null;
      /**
       * Always null.
       */
      environmentId: string | null;
      displayOrder: number;
      /**
       * False: `[hooks.state]` switches the hook off.
       */
      enabled: boolean;
      /**
       * True: an administrator defines the hook, so `[hooks.state]` of the user does not count.
       */
      isManaged: boolean;
      /**
       * A hash of the definition. `trusted_hash` in `[hooks.state]` is compared with it.
       */
      currentHash: string;
      trustStatus: HookTrustStatus;
    }
  | {
      handlerType: 'prompt';
      /**
       * Identifies the hook in `[hooks.state]` of config.toml.
       */
      key: string;
      eventName: HookEventName;
      /**
       * Null: the hook is for every call, or the event has none.
       */
      matcher: string | null;
      timeoutSec: number;
      statusMessage: string | null;
      /**
       * The most tokens of context that the hook can give to the model.
       */
      additionalContextLimit: number | null;
      /**
       * The absolute path of the file that defines the hook.
       */
      sourcePath: string;
      source: HookSource;
      /**
       * Always null.
       */
      pluginId: string | null;
      /**
       * Always null.
       */
      environmentId: string | null;
      displayOrder: number;
      /**
       * False: `[hooks.state]` switches the hook off.
       */
      enabled: boolean;
      /**
       * True: an administrator defines the hook, so `[hooks.state]` of the user does not count.
       */
      isManaged: boolean;
      /**
       * A hash of the definition. `trusted_hash` in `[hooks.state]` is compared with it.
       */
      currentHash: string;
      trustStatus: HookTrustStatus;
    }
  | {
      handlerType: 'agent';
      /**
       * Identifies the hook in `[hooks.state]` of config.toml.
       */
      key: string;
      eventName: HookEventName;
      /**
       * Null: the hook is for every call, or the event has none.
       */
      matcher: string | null;
      timeoutSec: number;
      statusMessage: string | null;
      /**
       * The most tokens of context that the hook can give to the model.
       */
      additionalContextLimit: number | null;
      /**
       * The absolute path of the file that defines the hook.
       */
      sourcePath: string;
      source: HookSource;
      /**
       * Always null.
       */
      pluginId: string | null;
      /**
       * Always null.
       */
      environmentId: string | null;
      displayOrder: number;
      /**
       * False: `[hooks.state]` switches the hook off.
       */
      enabled: boolean;
      /**
       * True: an administrator defines the hook, so `[hooks.state]` of the user does not count.
       */
      isManaged: boolean;
      /**
       * A hash of the definition. `trusted_hash` in `[hooks.state]` is compared with it.
       */
      currentHash: string;
      trustStatus: HookTrustStatus;
    };
/**
 * A part of a turn, such as a message or a command. An item starts, streams and completes under one id.
 */
export type ThreadItem = UntimedItem & {
  /**
   * In Unix milliseconds. Null: unknown.
   */
  startedAtMs: number | null;
  /**
   * When the item ended, completed or cut off. Null: it has not ended, or the time is unknown.
   */
  completedAtMs: number | null;
};
/**
 * An item without its times.
 */
export type UntimedItem =
  | {
      type: 'userMessage';
      id: string;
      /**
       * The id that the client gave the message (`clientUserMessageId`). Null: none.
       */
      clientId?: string | null;
      content: UserInput[];
    }
  | {
      type: 'hookPrompt';
      id: string;
      fragments: HookPromptFragment[];
    }
  | {
      type: 'agentMessage';
      id: string;
      text: string;
      phase?: MessagePhase | null;
      memoryCitation?: MemoryCitation | null;
      moderation?: AgentMessageModeration | null;
      delivery?: 'async' | null;
      questions?: AsyncUserInputQuestion[] | null;
    }
  | {
      type: 'functionCallOutput';
      id: string;
      name: string;
      namespace?: string | null;
      output: FunctionCallOutputBody;
    }
  | {
      type: 'plan';
      id: string;
      text: string;
    }
  | {
      type: 'reasoning';
      id: string;
      summary?: string[];
      content?: string[];
    }
  | {
      type: 'commandExecution';
      id: string;
      command: string;
      cwd: AbsolutePathBuf;
      /**
       * The id of the command's session while it runs. Null: none.
       */
      processId?: string | null;
      source?: CommandExecutionSource;
      status: CommandExecutionStatus;
      /**
       * The actions that the server recognized in the command.
       */
      commandActions: CommandAction[];
      aggregatedOutput?: string | null;
      exitCode?: number | null;
      durationMs?: number | null;
      pluginId?: string | null;
      scriptPath?: string | null;
      /**
       * The reviews of the action by the guardian model, at most the last 50. Absent: there was none.
       */
      approvalReviews?: ItemApprovalReview[];
    }
  | {
      type: 'fileChange';
      id: string;
      changes: FileUpdateChange[];
      status: PatchApplyStatus;
      /**
       * The reviews of the action by the guardian model, at most the last 50. Absent: there was none.
       */
      approvalReviews?: ItemApprovalReview[];
    }
  | {
      type: 'mcpToolCall';
      id: string;
      server: string;
      tool: string;
      status: McpToolCallStatus;
      arguments: unknown;
      mcpAppResourceUri?: string | null;
      mcpAppUi?: McpAppUi | null;
      appContext?: McpToolCallAppContext | null;
      pluginId?: string | null;
      readOnlyHint?: boolean | null;
      result?: McpToolCallResult | null;
      error?: McpToolCallError | null;
      durationMs?: number | null;
      /**
       * The reviews of the action by the guardian model, at most the last 50. Absent: there was none.
       */
      approvalReviews?: ItemApprovalReview[];
    }
  | {
      type: 'dynamicToolCall';
      id: string;
      namespace?: string | null;
      tool: string;
      arguments: unknown;
      status: DynamicToolCallStatus;
      contentItems?: DynamicToolCallOutputContentItem[] | null;
      success?: boolean | null;
      durationMs?: number | null;
    }
  | {
      type: 'collabAgentToolCall';
      id: string;
      tool: CollabAgentTool;
      status: CollabAgentToolCallStatus;
      senderThreadId: string;
      receiverThreadIds: string[];
      prompt?: string | null;
      model?: string | null;
      reasoningEffort?: ReasoningEffort | null;
      /**
       * The states of the other agents, by thread id.
       */
      agentsStates: {
        [k: string]: CollabAgentState;
      };
    }
  | {
      type: 'subAgentActivity';
      id: string;
      kind: SubAgentActivityKind;
      agentThreadId: string;
      agentPath: string;
      model?: string | null;
      reasoningEffort?: ReasoningEffort | null;
    }
  | {
      type: 'webSearch';
      id: string;
      query: string;
      action?: WebSearchAction | null;
      results?: unknown[] | null;
    }
  | {
      type: 'imageView';
      id: string;
      path: AbsolutePathBuf;
    }
  | {
      type: 'sleep';
      id: string;
      durationMs: number;
    }
  | {
      type: 'imageGeneration';
      id: string;
      status: string;
      revisedPrompt?: string | null;
      /**
       * The image, in base64.
       */
      result?: string;
      /**
       * The id of the image's file, if the image is not inline.
       */
      fileId?: string;
      savedPath?: AbsolutePathBuf | null;
      generationId?: string | null;
      inputImages?: ImageGenerationInputImage[];
      transparentBackground?: boolean | null;
      failure?: ImageGenerationFailure | null;
    }
  | {
      type: 'enteredReviewMode';
      id: string;
      review: string;
    }
  | {
      type: 'exitedReviewMode';
      id: string;
      review: string;
    }
  | {
      type: 'contextCompaction';
      id: string;
    };
/**
 * One part of the user's message.
 */
export type UserInput =
  | {
      type: 'text';
      text: string;
      /**
       * Spans of the text that the client displays specially.
       */
      text_elements?: TextElement[] | null;
    }
  | {
      type: 'image';
      url?: string | null;
      fileId?: string | null;
      detail?: ImageDetail | null;
    }
  | {
      type: 'localImage';
      path: string;
      detail?: ImageDetail | null;
    }
  | {
      type: 'audio';
      url?: string | null;
      fileId?: string | null;
    }
  | {
      type: 'localAudio';
      path: string;
    }
  | {
      type: 'skill';
      name: string;
      path: string;
    }
  | {
      type: 'mention';
      name: string;
      path: string;
    };
/**
 * The level of detail at which the model reads an image.
 */
export type ImageDetail = 'auto' | 'low' | 'high' | 'original';
/**
 * The phase of a message: commentary on the work, a part of the answer, or the final answer.
 */
export type MessagePhase = 'commentary' | 'partial_answer' | 'final_answer';
export type FunctionCallOutputBody = string | FunctionCallOutputContentItem[];
export type FunctionCallOutputContentItem =
  | {
      type: 'input_text';
      text: string;
    }
  | {
      type: 'input_image';
      image_url?: string | null;
      file_id?: string | null;
      detail?: ImageDetail | null;
    }
  | {
      type: 'input_audio';
      audio_url?: string | null;
      file_id?: string | null;
    }
  | {
      type: 'encrypted_content';
      encrypted_content: string;
    };
/**
 * The source of the command. `agent` if absent.
 */
export type CommandExecutionSource = 'agent' | 'userShell' | 'unifiedExecStartup' | 'unifiedExecInteraction';
export type CommandExecutionStatus = 'inProgress' | 'completed' | 'failed' | 'declined';
export type PatchChangeKind =
  | {
      type: 'add';
    }
  | {
      type: 'delete';
    }
  | {
      type: 'update';
      /**
       * The new path of the file. Null: it was not moved.
       */
      move_path?: string | null;
    };
export type PatchApplyStatus = 'inProgress' | 'completed' | 'failed' | 'declined';
export type McpToolCallStatus = 'inProgress' | 'completed' | 'failed';
export type DynamicToolCallStatus = 'inProgress' | 'completed' | 'failed';
export type DynamicToolCallOutputContentItem =
  | {
      type: 'inputText';
      text: string;
    }
  | {
      type: 'inputImage';
      imageUrl: string;
    }
  | {
      type: 'inputAudio';
      audioUrl: string;
    };
export type CollabAgentTool =
  'spawnAgent' | 'sendInput' | 'resumeAgent' | 'wait' | 'closeAgent' | 'sendMessage' | 'followupTask' | 'interruptAgent' | 'listAgents';
export type CollabAgentToolCallStatus = 'inProgress' | 'completed' | 'failed' | 'interrupted';
export type CollabAgentStatus = 'pendingInit' | 'running' | 'interrupted' | 'completed' | 'errored' | 'shutdown' | 'notFound';
export type SubAgentActivityKind = 'started' | 'interacted' | 'interrupted' | 'completed';
export type WebSearchAction =
  | {
      type: 'search';
      query?: string | null;
      queries?: string[] | null;
    }
  | {
      type: 'openPage';
      url?: string | null;
    }
  | {
      type: 'findInPage';
      url?: string | null;
      pattern?: string | null;
    }
  | {
      type: 'other';
    };
export type ImageGenerationFailure = {
  type: 'usageLimitExceeded';
  limitId: string;
  resetsAt?: number | null;
};
export type JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError;
/**
 * `toolsAndAuthOnly` leaves out resources and resource templates.
 */
export type McpServerStatusDetail = 'full' | 'toolsAndAuthOnly';
export type McpServerConnectionStatus =
  'notStarted' | 'starting' | 'connected' | 'authenticationRequired' | 'failed' | 'cancelled' | 'disabled';
/**
 * `unsupported`: a server on stdio, or one that wants no login.
 */
export type McpAuthStatus = 'unknown' | 'unsupported' | 'notLoggedIn' | 'bearerToken' | 'oAuth';
export type McpResourceContent =
  | {
      uri: string;
      text: string;
      mimeType?: string | null;
      _meta?: unknown;
    }
  | {
      uri: string;
      /**
       * Base64.
       */
      blob: string;
      mimeType?: string | null;
      _meta?: unknown;
    };
export type McpServerRefreshResponse = Record<string, never>;
/**
 * `cancelled`: the thread does not use the server any more.
 */
export type McpServerStartupState = 'starting' | 'ready' | 'failed' | 'cancelled';
/**
 * `reauthenticationRequired`: the server wants a login.
 */
export type McpServerStartupFailureReason = 'reauthenticationRequired';
export type McpServerElicitationRequestParams =
  | {
      threadId: string;
      agent?: AskingAgent;
      turnId: string | null;
      serverName: string;
      /**
       * As the server sent it. For the approval of a tool's call, `codex_approval_kind` is `mcp_tool_call`, and `persist` has the lasting answers: put one of them in `_meta.persist` of the response.
       */
      _meta: unknown;
      message: string;
      mode: 'form';
      requestedSchema: McpElicitationSchema;
    }
  | {
      threadId: string;
      agent?: AskingAgent;
      turnId: string | null;
      serverName: string;
      /**
       * As the server sent it. For the approval of a tool's call, `codex_approval_kind` is `mcp_tool_call`, and `persist` has the lasting answers: put one of them in `_meta.persist` of the response.
       */
      _meta: unknown;
      message: string;
      mode: 'url';
      url: string;
      elicitationId: string;
    };
/**
 * A text, a number, a choice, several choices, or yes or no.
 */
export type McpElicitationPrimitiveSchema =
  | {
      type: 'string';
      title?: string;
      description?: string;
      enum: string[];
      enumNames?: string[];
      default?: string;
    }
  | {
      type: 'string';
      title?: string;
      description?: string;
      oneOf: McpElicitationConstOption[];
      default?: string;
    }
  | {
      type: 'array';
      title?: string;
      description?: string;
      minItems?: number;
      maxItems?: number;
      items: McpElicitationItems;
      default?: string[];
    }
  | {
      type: 'string';
      title?: string;
      description?: string;
      minLength?: number;
      maxLength?: number;
      format?: 'email' | 'uri' | 'date' | 'date-time';
      default?: string;
    }
  | {
      type: 'number' | 'integer';
      title?: string;
      description?: string;
      minimum?: number;
      maximum?: number;
      default?: number;
    }
  | {
      type: 'boolean';
      title?: string;
      description?: string;
      default?: boolean;
    };
export type McpElicitationItems =
  | {
      type: 'string';
      enum: string[];
    }
  | {
      anyOf: McpElicitationConstOption[];
    };
export type McpServerElicitationAction = 'accept' | 'decline' | 'cancel';
/**
 * How the client makes itself known: `dcr`, it registers itself; `cimd`, by the document that `oauth.client_metadata_url` names.
 */
export type McpServerOauthClientRegistration = 'auto' | 'cimd' | 'dcr';
export type InputModality = 'text' | 'image' | 'audio';
export type ModelProviderListParams = Record<string, never>;
export type ProviderSettings =
  | {
      type: 'openai';
    }
  | {
      type: 'customGateway';
      auth: GatewayAuth;
    };
/**
 * The source of the API key: an environment variable, headers in the configuration, or none.
 */
export type GatewayAuth =
  | {
      mode: 'none';
    }
  | {
      mode: 'environmentVariable';
      envKey: string;
    }
  | {
      mode: 'externallyConfigured';
      /**
       * Always null.
       */
      envKey: null;
    };
export type ModelProviderCapabilitiesReadParams = Record<string, never>;
export type ProviderSettingsPatch =
  | {
      type: 'customGateway';
      /**
       * The provider to change. Absent or null: a new one, whose id is made from its name.
       */
      providerId?: string | null;
      /**
       * The display name. A new provider needs it.
       */
      name?: string | null;
      /**
       * The URL of its API. A new provider needs it, and it cannot be removed.
       */
      baseUrl?: string | null;
      /**
       * The environment variable with the key. Null: no key is sent.
       */
      envKey?: string | null;
    }
  | {
      type: 'bedrock';
      providerId: BedrockProviderId;
      /**
       * Has no effect: the request is refused.
       */
      region?: string | null;
      /**
       * Has no effect: the request is refused.
       */
      profile?: string | null;
    }
  | {
      type: 'gcp';
      providerId: GcpProviderId;
      /**
       * Has no effect: the request is refused.
       */
      projectId?: string | null;
      /**
       * Has no effect: the request is refused.
       */
      location?: string | null;
      /**
       * Has no effect: the request is refused.
       */
      credentialFile?: string | null;
    };
export type BedrockProviderId = 'amazon-bedrock' | 'amazon-bedrock-runtime';
export type GcpProviderId = 'gcp';
/**
 * The reason. Clients know only this one, and drop a notification with another value.
 */
export type ModelRerouteReason = 'highRiskCyberActivity';
/**
 * `turn`: until the turn ends. `session`: until the thread is unloaded.
 */
export type PermissionGrantScope = 'turn' | 'session';
export type ProcessSpawnResponse = Record<string, never>;
export type ProcessWriteStdinResponse = Record<string, never>;
export type ProcessResizePtyResponse = Record<string, never>;
export type ProcessKillResponse = Record<string, never>;
export type ProcessOutputStream = 'stdout' | 'stderr';
/**
 * Why no entry of a queue starts a turn by itself. `turnInterrupted`: somebody has interrupted a turn; the queue goes on after `thread/queue/start`, or after a turn that completes. `threadNotLoaded`: it goes on once the thread is resumed.
 */
export type ThreadQueueHold = 'turnInterrupted' | 'threadNotLoaded';
export type ThreadQueueReorderResponse = Record<string, never>;
/**
 * The items that are included. `notLoaded`: none. `summary`: the first user message and the last agent message. `full`: all.
 */
export type TurnItemsView = 'notLoaded' | 'summary' | 'full';
export type TurnStatus = 'completed' | 'interrupted' | 'failed' | 'inProgress';
/**
 * The kind of error, for programs. Null as `httpStatusCode` means that there was no HTTP response.
 */
export type CodexErrorInfo =
  | (
      | 'contextWindowExceeded'
      | 'sessionBudgetExceeded'
      | 'usageLimitExceeded'
      | 'rateLimitExceeded'
      | 'flexUnavailable'
      | 'serverOverloaded'
      | 'modelNotFound'
      | 'policyCapacityUnavailable'
      | 'cyberPolicy'
      | 'misalignmentPolicyViolation'
      | 'tooManyDenials'
      | 'internalServerError'
      | 'unauthorized'
      | 'badRequest'
      | 'threadRollbackFailed'
      | 'sandboxError'
      | 'inferenceHookDenied'
      | 'other'
    )
  | {
      httpConnectionFailed: HttpFailure;
    }
  | {
      responseStreamConnectionFailed: HttpFailure;
    }
  | {
      responseStreamDisconnected: HttpFailure;
    }
  | {
      responseTooManyFailedAttempts: HttpFailure;
    }
  | {
      activeTurnNotSteerable: {
        turnKind: NonSteerableTurnKind;
      };
    };
export type NonSteerableTurnKind = 'review' | 'compact';
/**
 * One item of a conversation with a model, in the format of the Responses API.
 */
export type ResponseItem =
  | {
      type: 'message';
      id?: string | null;
      role: string;
      content: ContentItem[];
      phase?: MessagePhase | null;
      status?: string | null;
      end_turn?: boolean | null;
      encrypted_content?: string | null;
    }
  | {
      type: 'agent_message';
      id?: string | null;
      author: string;
      recipient: string;
      content: AgentMessageInputContent[];
    }
  | {
      type: 'reasoning';
      id?: string | null;
      summary: ReasoningItemReasoningSummary[];
      content?: ReasoningItemContent[] | null;
      encrypted_content?: string | null;
    }
  | {
      type: 'local_shell_call';
      id?: string | null;
      call_id?: string | null;
      status: LocalShellStatus;
      action: LocalShellAction;
      encrypted_content?: string | null;
    }
  | {
      type: 'function_call';
      id?: string | null;
      call_id: string;
      name: string;
      namespace?: string | null;
      /**
       * The arguments, as a JSON string.
       */
      arguments: string;
      status?: string | null;
      encrypted_content?: string | null;
      encrypted_function_args?: string[] | null;
    }
  | {
      type: 'function_call_output';
      id?: string | null;
      call_id?: string | null;
      name?: string | null;
      namespace?: string | null;
      output: FunctionCallOutput;
    }
  | {
      type: 'custom_tool_call';
      id?: string | null;
      call_id: string;
      name: string;
      namespace?: string | null;
      input: string;
      status?: string | null;
      encrypted_content?: string | null;
    }
  | {
      type: 'custom_tool_call_output';
      id?: string | null;
      call_id: string;
      name?: string | null;
      output: FunctionCallOutput;
    }
  | {
      type: 'tool_search_call';
      id?: string | null;
      call_id?: string | null;
      execution: string;
      arguments: unknown;
      status?: string | null;
      encrypted_content?: string | null;
    }
  | {
      type: 'tool_search_output';
      id?: string | null;
      call_id?: string | null;
      execution: string;
      status: string;
      tools: unknown[];
    }
  | {
      type: 'additional_tools';
      id?: string | null;
      role: string;
      tools: unknown[];
    }
  | {
      type: 'web_search_call';
      id?: string | null;
      status?: string | null;
      action?: ResponsesApiWebSearchAction | null;
      encrypted_content?: string | null;
    }
  | {
      type: 'image_generation_call';
      id?: string | null;
      status: string;
      revised_prompt?: string | null;
      /**
       * The image, in base64.
       */
      result: string;
      encrypted_content?: string | null;
    }
  | {
      type: 'ghost_snapshot';
      id?: string | null;
      ghost_commit: GhostCommit;
    }
  | {
      type: 'compaction';
      id?: string | null;
      encrypted_content: string;
    }
  | {
      type: 'compaction_trigger';
      id?: string | null;
    }
  | {
      type: 'context_compaction';
      id?: string | null;
      encrypted_content?: string | null;
    }
  | {
      type: 'configuration_update';
      id?: string | null;
      reasoning: ConfigurationReasoning;
    }
  | {
      type: 'other';
      id?: string | null;
    };
export type ContentItem =
  | {
      type: 'input_text';
      text: string;
    }
  | {
      type: 'input_image';
      image_url?: string | null;
      file_id?: string | null;
      detail?: ImageDetail | null;
    }
  | {
      type: 'input_audio';
      audio_url?: string | null;
      file_id?: string | null;
    }
  | {
      type: 'output_text';
      text: string;
      annotations?: unknown[] | null;
      logprobs?: unknown[] | null;
    };
export type AgentMessageInputContent =
  | {
      type: 'input_text';
      text: string;
    }
  | {
      type: 'encrypted_content';
      encrypted_content: string;
    };
export type ReasoningItemReasoningSummary = {
  type: 'summary_text';
  text: string;
};
export type ReasoningItemContent =
  | {
      type: 'reasoning_text';
      text: string;
    }
  | {
      type: 'text';
      text: string;
    };
export type LocalShellStatus = 'completed' | 'in_progress' | 'incomplete';
export type LocalShellAction = {
  type: 'exec';
  command: string[];
  working_directory?: string | null;
  env?: {
    [k: string]: string;
  } | null;
  timeout_ms?: number | null;
  user?: string | null;
};
/**
 * The output of a tool: its body alone, or an object with the body and whether the call succeeded. The model does not see `success`.
 */
export type FunctionCallOutput =
  | FunctionCallOutputBody
  | {
      body: FunctionCallOutputBody;
      success?: boolean | null;
    };
export type ResponsesApiWebSearchAction =
  | {
      type: 'search';
      query?: string | null;
      queries?: string[] | null;
    }
  | {
      type: 'open_page';
      url?: string | null;
    }
  | {
      type: 'find_in_page';
      url?: string | null;
      pattern?: string | null;
    }
  | {
      type: 'other';
    };
/**
 * `inline`: in the thread itself. `detached`: in a fork of the thread.
 */
export type ReviewDelivery = 'inline' | 'detached';
/**
 * `uncommittedChanges`: staged, unstaged and untracked changes. `baseBranch`: the changes since the branch was left. `custom`: what the instructions say.
 */
export type ReviewTarget = UncommittedChangesReviewTarget | BaseBranchReviewTarget | CommitReviewTarget | CustomReviewTarget;
export type FuzzyFileSearchMatchType = 'file' | 'directory';
/**
 * The best matches, best first, 50 at most.
 */
export type FuzzyFileSearchResults = FuzzyFileSearchResult[];
export type FuzzyFileSearchSessionStartResponse = Record<string, never>;
export type FuzzyFileSearchSessionUpdateResponse = Record<string, never>;
export type FuzzyFileSearchSessionStopResponse = Record<string, never>;
/**
 * The tone that the model is instructed to use.
 */
export type Personality = 'none' | 'friendly' | 'pragmatic';
/**
 * When the model may start agents: if the user asks for it, by its own judgement, or as the client's text says.
 */
export type MultiAgentMode =
  | ('explicitRequestOnly' | 'proactive')
  | {
      custom: string;
    };
/**
 * heddle has no skills of its own, so it sends `user` and `repo`.
 */
export type SkillScope = 'user' | 'repo' | 'system' | 'admin';
export type SkillsExtraRootsSetResponse = Record<string, never>;
export type SkillsChangedNotification = Record<string, never>;
export type ThreadArchiveResponse = Record<string, never>;
/**
 * Whether the history can be read in pages.
 */
export type ThreadHistoryMode = 'legacy' | 'paginated';
export type ThreadStatus =
  | {
      type: 'notLoaded';
    }
  | {
      type: 'idle';
    }
  | {
      type: 'systemError';
    }
  | {
      type: 'active';
      activeFlags: ThreadActiveFlag[];
    };
export type ThreadActiveFlag = 'waitingOnApproval' | 'waitingOnUserInput';
/**
 * The kind of client that started the thread. The server uses `vscode` for all threads that it starts.
 */
export type SessionSource =
  | ('cli' | 'vscode' | 'exec' | 'appServer' | 'unknown')
  | {
      custom: string;
    }
  | {
      subAgent: SubAgentSource;
    };
export type SubAgentSource =
  | ('review' | 'compact' | 'memory_consolidation')
  | {
      thread_spawn: {
        parent_thread_id: string;
        depth: number;
        agent_path: string | null;
        agent_nickname: string | null;
        agent_role: string | null;
      };
    }
  | {
      other: string;
    };
export type ThreadDeleteResponse = Record<string, never>;
export type ThreadSampleCancelResponse = Record<string, never>;
/**
 * Sent before the command starts.
 */
export type ThreadShellCommandResponse = Record<string, never>;
export type ThreadBackgroundTerminalsCleanResponse = Record<string, never>;
/**
 * Sent before the compaction starts.
 */
export type ThreadCompactStartResponse = Record<string, never>;
export type SortDirection = 'asc' | 'desc';
export type ThreadSortKey = 'created_at' | 'updated_at' | 'recency_at' | 'section_position';
export type ThreadListCwdFilter = string | string[];
export type ThreadSourceKind =
  | 'cli'
  | 'vscode'
  | 'exec'
  | 'appServer'
  | 'subAgent'
  | 'subAgentReview'
  | 'subAgentCompact'
  | 'subAgentThreadSpawn'
  | 'subAgentOther'
  | 'unknown';
export type ThreadTurnsListResponse = TurnsPage;
export type ThreadItemsListCursor = string | ThreadItemsListAnchor;
/**
 * Starts the page at an item.
 */
export type ThreadItemsListAnchor = {
  type: 'item';
  itemId: string;
};
/**
 * `startup`: the thread is the client's first. `clear`: it follows a cleared one.
 */
export type ThreadStartSource = 'startup' | 'clear';
export type DynamicToolSpec =
  | {
      /**
       * Optional: a tool without a type is a function.
       */
      type?: 'function';
      /**
       * The older way to put a tool into a namespace. The newer one is an entry of the type `namespace`.
       */
      namespace?: string | null;
      name: string;
      description: string;
      /**
       * The JSON Schema of the tool's arguments.
       */
      inputSchema: unknown;
      /**
       * Whether the model finds the tool only by search. Only for tools in a namespace.
       */
      deferLoading?: boolean | null;
      /**
       * The older form of `deferLoading`: its opposite. Without both, the model sees the tool. If both are given, `deferLoading` counts.
       */
      exposeToContext?: boolean | null;
    }
  | {
      type: 'namespace';
      name: string;
      description: string;
      tools: DynamicToolNamespaceTool[];
    };
export type DynamicToolNamespaceTool = {
  type: 'function';
  name: string;
  description: string;
  inputSchema: unknown;
  deferLoading?: boolean | null;
  exposeToContext?: boolean | null;
};
export type CapabilityRootLocation = {
  type: 'environment';
  environmentId: string;
  path: string;
};
export type ThreadForkResponse = ThreadStartResponse;
export type ThreadInjectItemsResponse = Record<string, never>;
/**
 * Whether the content of the thread may become part of the memory for other threads.
 */
export type ThreadMemoryMode = 'enabled' | 'disabled';
export type ThreadMemoryModeSetResponse = Record<string, never>;
export type ThreadSettingsUpdateResponse = Record<string, never>;
export type ThreadSetNameResponse = Record<string, never>;
export type ThreadUnsubscribeStatus = 'notLoaded' | 'notSubscribed' | 'unsubscribed';
export type CyberAccessProgram = 'standard' | 'daybreakBlue' | 'daybreakRed';
export type TurnInterruptResponse = Record<string, never>;
/**
 * `targetUnavailable`: the turn is not running, and nothing was changed.
 */
export type TurnSettingsUpdateStatus = 'applied' | 'targetUnavailable';
export type TurnPlanStepStatus = 'pending' | 'inProgress' | 'completed';

export interface AccountSessionsListParams {
  refreshWorkspaceMetadata?: boolean | null;
}
export interface AccountSessionsResponse {
  /**
   * Always null.
   */
  activeSessionId: null;
  sessions: EmptyList;
}
export interface AppsInstalledParams {
  forceRefresh?: boolean | null;
  threadId?: string | null;
}
export interface AppsInstalledResponse {
  apps: EmptyList;
}
export interface AppsListParams {
  cursor?: string | null;
  limit?: number | null;
  forceRefetch?: boolean | null;
  threadId?: string | null;
}
export interface AppsListResponse {
  data: EmptyList;
  /**
   * Always null.
   */
  nextCursor: null;
}
export interface EnvironmentStatusParams {
  environmentId: string;
}
export interface EnvironmentStatusResponse {
  /**
   * `ready` for `local`, the machine that the server runs on; `unknown` for every other id.
   */
  status: 'ready' | 'unknown';
  error: string | null;
}
export interface MemoryStatusParams {
  minConsolidatedThreads?: number | null;
}
export interface MemoryStatusResponse {
  /**
   * Always 0.
   */
  v2ConsolidatedThreads: number;
  /**
   * Always false.
   */
  v2Ready: boolean;
}
export interface PluginInstalledParams {
  cwds?: AbsolutePathBuf[] | null;
  installSuggestionPluginNames?: string[] | null;
}
export interface PluginInstalledResponse {
  marketplaces: EmptyList;
  marketplaceLoadErrors: EmptyList;
}
export interface PluginListParams {
  cwds?: AbsolutePathBuf[] | null;
  forceRefetch?: boolean | null;
  marketplaceKinds?: PluginListMarketplaceKind[] | null;
}
export interface PluginListResponse {
  marketplaces: EmptyList;
  marketplaceLoadErrors: EmptyList;
  featuredPluginIds: EmptyList;
}
export interface PluginSearchParams {
  searchTerm: string;
  scope?: PluginSearchScope | null;
  cwds?: AbsolutePathBuf[] | null;
  cursor?: string | null;
  limit?: number | null;
}
export interface PluginSearchResponse {
  data: EmptyList;
  /**
   * Always null.
   */
  nextCursor: null;
}
export interface PluginShareListResponse {
  data: EmptyList;
}
export interface RemoteControlClientsListParams {
  environmentId: string;
  order?: RemoteControlClientsListOrder | null;
  cursor?: string | null;
  limit?: number | null;
}
export interface RemoteControlClientsListResponse {
  data: EmptyList;
  /**
   * Always null.
   */
  nextCursor: null;
}
export interface RemoteControlStatusReadResponse {
  status: 'disabled';
  serverName: string;
  /**
   * Always the empty string: the server is not registered anywhere.
   */
  installationId: string;
  /**
   * Always null.
   */
  environmentId: null;
}
export interface ThreadRealtimeListVoicesResponse {
  voices: RealtimeVoicesList;
}
/**
 * There are no voices. `defaultV1` and `defaultV2` are names that clients accept.
 */
export interface RealtimeVoicesList {
  v1: EmptyList;
  v2: EmptyList;
  v3: EmptyList;
  defaultV1: 'cove';
  defaultV2: 'marin';
}
export interface GetAccountParams {
  /**
   * Has no effect: the server uses keys, which are not renewed.
   */
  refreshToken?: boolean | null;
}
export interface GetAccountResponse {
  account: Account | null;
  userId: string | null;
  /**
   * Whether the configured provider needs OpenAI credentials.
   */
  requiresOpenaiAuth: boolean;
  /**
   * Always null: it belongs to ChatGPT logins.
   */
  workspaceRouting: null;
}
export interface LoginAccountResponse {
  type: 'apiKey';
}
export interface CancelLoginAccountParams {
  /**
   * A UUID.
   */
  loginId: string;
}
export interface CancelLoginAccountResponse {
  status: 'canceled' | 'notFound';
}
export interface AccountUpdatedNotification {
  /**
   * The credentials that the default provider's requests have now; null: none.
   */
  authMode: AuthMode | null;
  planType: PlanType | null;
}
export interface AccountLoginCompletedNotification {
  loginId: string | null;
  success: boolean;
  error: string | null;
  /**
   * Always null.
   */
  onboardingEntrypoint: null;
}
export interface GetAccountRateLimitsResponse {
  rateLimits: RateLimitSnapshot;
  rateLimitsByLimitId: {
    [k: string]: RateLimitSnapshot;
  } | null;
}
export interface RateLimitSnapshot {
  limitId: string | null;
  limitName: string | null;
  primary: RateLimitWindow | null;
  secondary: RateLimitWindow | null;
  credits: CreditsSnapshot | null;
  planType: PlanType | null;
  /**
   * Always null.
   */
  rateLimitReachedType: null;
}
export interface RateLimitWindow {
  usedPercent: number;
  windowDurationMins: number | null;
  /**
   * In Unix seconds.
   */
  resetsAt: number | null;
}
export interface CreditsSnapshot {
  hasCredits: boolean;
  unlimited: boolean;
  balance: string | null;
}
export interface AccountRateLimitsUpdatedNotification {
  rateLimits: RateLimitSnapshot;
}
export interface GetAuthStatusParams {
  /**
   * Whether the answer has the key.
   */
  includeToken?: boolean | null;
  /**
   * Has no effect: keys are not renewed.
   */
  refreshToken?: boolean | null;
}
export interface GetAuthStatusResponse {
  authMethod: AuthMode | null;
  authToken: string | null;
  requiresOpenaiAuth: boolean;
}
/**
 * The agent that asks. Absent if the thread is not that of an agent.
 */
export interface AskingAgent {
  threadId: string;
  nickname: string | null;
  role: string | null;
  /**
   * The thread that started the agent.
   */
  parentThreadId: string;
}
/**
 * The time that calls wait for commands does not pass meanwhile either. The questions of a client end with its connection.
 */
export interface ThreadIncrementElicitationParams {
  threadId: string;
}
export interface ThreadIncrementElicitationResponse {
  /**
   * The number of these questions now.
   */
  count: number;
  /**
   * Whether the deadlines are paused.
   */
  paused: boolean;
}
export interface ThreadDecrementElicitationParams {
  threadId: string;
}
export interface ThreadDecrementElicitationResponse {
  /**
   * The number of these questions now.
   */
  count: number;
  /**
   * Whether the deadlines are paused.
   */
  paused: boolean;
}
/**
 * `itemId` is the id of its commandExecution item, which was announced with `item/started`.
 */
export interface CommandExecutionRequestApprovalParams {
  threadId: string;
  agent?: AskingAgent;
  turnId: string;
  itemId: string;
  /**
   * Distinguishes several approval requests for one item. Null for the first one.
   */
  approvalId: string | null;
  kind: CommandExecutionApprovalKind;
  /**
   * The time of the request, in Unix milliseconds.
   */
  startedAtMs: number;
  /**
   * The reason for the request, to show to the user. Null: there is none.
   */
  reason: string | null;
  command: string | null;
  cwd: AbsolutePathBuf | null;
  /**
   * The actions that the server recognized in the command.
   */
  commandActions: CommandAction[] | null;
  /**
   * The host that the command wants to reach. Null: the request is not about the network.
   */
  networkApprovalContext: NetworkApprovalContext | null;
  /**
   * A proposed rule: the first words of the command, one per entry. The user can allow all commands that begin with them from now on. Null: no rule is proposed.
   */
  proposedExecpolicyAmendment: string[] | null;
  proposedNetworkPolicyAmendments: NetworkPolicyAmendment[] | null;
  /**
   * Permissions that the command needs in addition to those of its sandbox. It still runs in the sandbox. Null: none.
   */
  additionalPermissions: AdditionalPermissionProfile | null;
  environmentId: string | null;
  /**
   * The decisions to offer to the user, in display order.
   */
  availableDecisions: CommandExecutionApprovalDecision[] | null;
}
export interface NetworkApprovalContext {
  /**
   * A name in lower case, or an IP address.
   */
  host: string;
  /**
   * `https`: a tunnel, whatever it carries. This server does not send `socks5Udp`.
   */
  protocol: 'http' | 'https' | 'socks5Tcp' | 'socks5Udp';
  port: number;
}
export interface NetworkPolicyAmendment {
  host: string;
  action: 'allow' | 'deny';
}
/**
 * Permissions that one command requests in addition to those of its sandbox.
 */
export interface AdditionalPermissionProfile {
  network: AdditionalNetworkPermissions | null;
  fileSystem: AdditionalFileSystemPermissions | null;
}
export interface AdditionalNetworkPermissions {
  enabled?: boolean | null;
}
/**
 * `read` and `write` are paths of files, and of folders with everything in them. `entries` lists the same permissions in a more expressive form.
 */
export interface AdditionalFileSystemPermissions {
  read?: string[] | null;
  /**
   * Paths that may be written and read.
   */
  write?: string[] | null;
  entries?: FileSystemSandboxEntry[] | null;
  globScanMaxDepth?: number | null;
}
export interface FileSystemSandboxEntry {
  path: FileSystemPath;
  access: FileSystemAccessMode;
}
export interface FileSystemSpecialPath {
  kind: 'root' | 'minimal' | 'project_roots' | 'tmpdir' | 'slash_tmp' | 'unknown';
  path?: string | null;
  subpath?: string | null;
}
export interface CommandExecutionRequestApprovalResponse {
  decision: CommandExecutionApprovalDecision;
}
/**
 * `itemId` is the id of the fileChange item with the changes, which was announced with `item/started`.
 */
export interface FileChangeRequestApprovalParams {
  threadId: string;
  agent?: AskingAgent;
  turnId: string;
  itemId: string;
  /**
   * The time of the request, in Unix milliseconds.
   */
  startedAtMs: number;
  /**
   * The reason for the request, to show to the user. Null: there is none.
   */
  reason: string | null;
  /**
   * If the request is accepted, all changes below this folder are allowed for the session. Null: no folder.
   */
  grantRoot: string | null;
}
export interface FileChangeRequestApprovalResponse {
  decision: FileChangeApprovalDecision;
}
/**
 * A mode that a client can offer. Null: the client keeps the value that the thread has.
 */
export interface CollaborationModeMask {
  /**
   * The name to show.
   */
  name: string;
  mode: ModeKind | null;
  model: string | null;
  reasoning_effort: ReasoningEffort | null;
}
export interface CollaborationModeListResponse {
  data: CollaborationModeMask[];
}
/**
 * The thread must be loaded, and no turn may run.
 */
export interface ThreadPrepareApprovedPlanParams {
  threadId: string;
  /**
   * The whole plan, at most 1,048,576 characters.
   */
  markdown: string;
  /**
   * A file that has the plan too. The model is told its path.
   */
  attachmentPath?: string | null;
}
export interface ThreadPrepareApprovedPlanResponse {
  /**
   * The input for the turn that carries the plan out.
   */
  prompt: string;
}
/**
 * Rows and columns of a terminal, in characters. Neither may be 0.
 */
export interface CommandExecTerminalSize {
  rows: number;
  cols: number;
}
/**
 * When the connection ends, the program and everything that it started are killed.
 */
export interface CommandExecParams {
  /**
   * The program and its arguments, which are not interpreted by a shell. Not empty.
   */
  command: string[];
  /**
   * The client's name for the command, used to write to it, resize its terminal and terminate it. No other running command of the connection may have it. Required with `tty`, `streamStdin` and `streamStdoutStderr`.
   */
  processId?: string | null;
  /**
   * The working directory, relative to that of the server. The server's own if absent.
   */
  cwd?: string | null;
  /**
   * Changes to the environment that commands get: a string sets a variable, null removes it.
   */
  env?: {
    [k: string]: string | null;
  } | null;
  /**
   * The timeout, in milliseconds; 10 seconds if absent. After it the command is killed, and the exit code is 124.
   */
  timeoutMs?: number | null;
  /**
   * Runs the command without a timeout. Not allowed with `timeoutMs`.
   */
  disableTimeout?: boolean | null;
  /**
   * The maximum length of stdout and of stderr, in bytes each; 1 MiB if absent. Further output is dropped.
   */
  outputBytesCap?: number | null;
  /**
   * Streams output without a limit. Output that is not streamed is still limited to 16 MiB for each stream. Not allowed with `outputBytesCap`.
   */
  disableOutputCap?: boolean | null;
  /**
   * Sends the output in `command/exec/outputDelta` notifications and leaves it out of the response.
   */
  streamStdoutStderr?: boolean | null;
  /**
   * Whether the client can write to stdin. If not, stdin is empty.
   */
  streamStdin?: boolean | null;
  /**
   * Whether it runs in a terminal. If so, stdin and output are streamed, and all output is `stdout`.
   */
  tty?: boolean | null;
  /**
   * The size of the terminal; 24 rows and 80 columns if absent. Allowed only with `tty`.
   */
  size?: CommandExecTerminalSize | null;
  /**
   * The sandbox policy. The configured one if absent.
   */
  sandboxPolicy?: SandboxPolicy | null;
  /**
   * The id of a permission profile, which replaces the sandbox policy. Earlier clients send the profile itself. Not allowed with `sandboxPolicy`.
   */
  permissionProfile?: string | CommandExecPermissionProfile | null;
}
/**
 * `disabled`: no sandbox. `external`: the client runs the server in a sandbox of its own. `managed` is refused.
 */
export interface CommandExecPermissionProfile {
  type: 'managed' | 'disabled' | 'external';
}
/**
 * The output is decoded as UTF-8. If a signal ended the command, the exit code is 128 plus the number of the signal.
 */
export interface CommandExecResponse {
  exitCode: number;
  stdout: string;
  stderr: string;
}
/**
 * The response is sent when the command has taken the bytes. `deltaBase64` or `closeStdin` is required.
 */
export interface CommandExecWriteParams {
  processId: string;
  deltaBase64?: string | null;
  /**
   * Closes stdin, after `deltaBase64` has been written.
   */
  closeStdin?: boolean | null;
}
export interface CommandExecResizeParams {
  processId: string;
  size: CommandExecTerminalSize;
}
export interface CommandExecTerminateParams {
  processId: string;
}
export interface CommandExecOutputDeltaNotification {
  processId: string;
  stream: CommandExecOutputStream;
  /**
   * The output bytes. A multi-byte character can be split between two notifications.
   */
  deltaBase64: string;
  /**
   * True in the last notification for a stream whose output cap has been reached.
   */
  capReached: boolean;
}
export interface ConfigReadParams {
  /**
   * Reads the configuration for a thread with this working directory. The server's own working directory if absent.
   */
  cwd?: string | null;
  /**
   * Whether to include `layers` in the response. False if absent.
   */
  includeLayers?: boolean | null;
}
export interface ConfigReadResponse {
  config: Config;
  /**
   * The layer that sets each value, by the value's dotted key.
   */
  origins: {
    [k: string]: ConfigLayerMetadata;
  };
  /**
   * All layers, the one with the highest precedence first. Null unless `includeLayers` is true.
   */
  layers: ConfigLayer[] | null;
}
/**
 * The settings of config.toml. The keys listed here are null if they are not set or invalid. Other keys are present if they are set.
 */
export interface Config {
  model?: string | null;
  review_model?: string | null;
  model_context_window?: number | null;
  model_auto_compact_token_limit?: number | null;
  model_auto_compact_token_limit_scope?: ('total' | 'body_after_prefix') | null;
  model_provider?: string | null;
  approval_policy?: AskForApproval | null;
  /**
   * Present only if the client enabled `experimentalApi`.
   */
  approvals_reviewer?: ApprovalsReviewer | null;
  sandbox_mode?: SandboxMode | null;
  sandbox_workspace_write?: SandboxWorkspaceWrite | null;
  forced_chatgpt_workspace_id?: string | string[] | null;
  forced_login_method?: ('chatgpt' | 'api') | null;
  web_search?: WebSearchMode | null;
  client_search_provider?: ('standalone' | 'search_mcp') | null;
  tools?: {
    [k: string]: unknown;
  } | null;
  instructions?: string | null;
  developer_instructions?: string | null;
  compact_prompt?: string | null;
  model_reasoning_effort?: ReasoningEffort | null;
  model_reasoning_summary?: ReasoningSummary | null;
  model_verbosity?: Verbosity | null;
  service_tier?: string | null;
  analytics?: {
    [k: string]: unknown;
  } | null;
  /**
   * Present only if the client enabled `experimentalApi`.
   */
  apps?: {
    [k: string]: unknown;
  } | null;
  browser_use?: {
    [k: string]: unknown;
  } | null;
  computer_use?: {
    [k: string]: unknown;
  } | null;
  desktop?: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * The kinds of approval requests. True: the user is asked. False: the action is refused without asking.
 */
export interface GranularApproval {
  /**
   * Requests to run a command outside the sandbox.
   */
  sandbox_approval: boolean;
  /**
   * Requests for commands for which a rule requires approval.
   */
  rules: boolean;
  /**
   * Questions from MCP servers.
   */
  mcp_elicitations: boolean;
  /**
   * Requests by the request_permissions tool; false if absent.
   */
  request_permissions?: boolean | null;
  /**
   * Questions about commands that may run a file of a skill; false if absent, and then they are like other commands.
   */
  skill_approval?: boolean | null;
}
export interface SandboxWorkspaceWrite {
  writable_roots?: string[];
  network_access?: boolean;
  exclude_tmpdir_env_var?: boolean;
  exclude_slash_tmp?: boolean;
}
export interface ConfigLayerMetadata {
  name: ConfigLayerSource;
  version: string;
}
export interface ConfigLayer {
  name: ConfigLayerSource;
  /**
   * A version string that changes with the layer's content.
   */
  version: string;
  config: unknown;
  /**
   * The reason why the layer has no effect. Null: the layer is in effect.
   */
  disabledReason: string | null;
}
export interface ConfigEdit {
  /**
   * A dotted key. A part that contains a dot is quoted: `projects."/a.b".trust_level`.
   */
  keyPath: string;
  /**
   * Null removes the key.
   */
  value: unknown;
  mergeStrategy: MergeStrategy;
}
export interface ConfigValueWriteParams {
  /**
   * A dotted key. A part that contains a dot is quoted: `projects."/a.b".trust_level`.
   */
  keyPath: string;
  /**
   * Null removes the key.
   */
  value: unknown;
  mergeStrategy: MergeStrategy;
  /**
   * The file to change. Only the config.toml in the server's home can be changed, which is also meant if this is absent.
   */
  filePath?: string | null;
  /**
   * The version of the user's layer that the client has read. If the file has another one, the request is refused.
   */
  expectedVersion?: string | null;
}
export interface ConfigBatchWriteParams {
  edits: ConfigEdit[];
  /**
   * The file to change. Only the config.toml in the server's home can be changed, which is also meant if this is absent.
   */
  filePath?: string | null;
  /**
   * The version of the user's layer that the client has read. If the file has another one, the request is refused.
   */
  expectedVersion?: string | null;
  /**
   * If true, the loaded threads in which no turn runs take over the changed file, except for what they have of their own: model, approval policy, sandbox and the like. Other threads do so when they are loaded again.
   */
  reloadUserConfig?: boolean | null;
}
export interface ConfigWriteResponse {
  status: WriteStatus;
  /**
   * The version of the user's layer after the change.
   */
  version: string;
  filePath: AbsolutePathBuf;
  /**
   * Null, unless another layer overrides a value that was written.
   */
  overriddenMetadata: OverriddenMetadata | null;
}
/**
 * The first of the written values that has no effect, and why.
 */
export interface OverriddenMetadata {
  message: string;
  overridingLayer: ConfigLayerMetadata;
  effectiveValue: unknown;
}
export interface ExperimentalFeatureListParams {
  cursor?: string | null;
  limit?: number | null;
  /**
   * A loaded thread. `enabled` then is what holds in it. Without it: what holds in a thread that is started without settings.
   */
  threadId?: string | null;
}
export interface ExperimentalFeatureListResponse {
  data: ExperimentalFeature[];
  /**
   * Null on the last page.
   */
  nextCursor: string | null;
}
/**
 * A key of `[features]` in config.toml.
 */
export interface ExperimentalFeature {
  name: string;
  stage: ExperimentalFeatureStage;
  displayName: string | null;
  description: string | null;
  /**
   * Always null.
   */
  announcement: string | null;
  enabled: boolean;
  defaultEnabled: boolean;
}
export interface ExperimentalFeatureEnablementSetParams {
  /**
   * Switches features by their names, until the server ends, for threads that are loaded from now on. The configuration overrides it.
   */
  enablement: {
    [k: string]: boolean;
  };
}
export interface ExperimentalFeatureEnablementSetResponse {
  /**
   * The features that were switched. A `configWarning` names those that this server does not have.
   */
  enablement: {
    [k: string]: boolean;
  };
}
export interface ConfigRequirementsReadResponse {
  /**
   * What the administrator of the machine allows. Null: everything.
   */
  requirements: ConfigRequirements | null;
  supportsIndependentSpeedModes: boolean | null;
}
/**
 * The limits of requirements.toml that this server enforces. Null: no limit.
 */
export interface ConfigRequirements {
  allowedApprovalPolicies: AskForApproval[] | null;
  /**
   * Present only if the client enabled `experimentalApi`.
   */
  allowedApprovalsReviewers?: ApprovalsReviewer[] | null;
  allowedSandboxModes: SandboxMode[] | null;
  allowedWebSearchModes: WebSearchMode[] | null;
  /**
   * Whether a feature is on or off, by its name.
   */
  featureRequirements: {
    [k: string]: boolean;
  } | null;
}
export interface ConfigWarningNotification {
  summary: string;
  details: string | null;
  /**
   * The file with the problem. Null: no file.
   */
  path: string | null;
  range: TextRange | null;
}
export interface TextRange {
  start: TextPosition;
  end: TextPosition;
}
/**
 * A position in a file. Lines and columns count from 1.
 */
export interface TextPosition {
  line: number;
  column: number;
}
export interface InitializeParams {
  clientInfo: ClientInfo;
  capabilities?: InitializeCapabilities | null;
}
export interface ClientInfo {
  /**
   * A short identifier, such as my-editor.
   */
  name: string;
  /**
   * The display name.
   */
  title?: string | null;
  version: string;
}
/**
 * The client's capabilities, and the notifications that it does not want.
 */
export interface InitializeCapabilities {
  /**
   * Enables experimental methods and fields. False if absent.
   */
  experimentalApi?: boolean | null;
  /**
   * The exact method names of notifications that the server does not send to this client.
   */
  optOutNotificationMethods?: string[] | null;
  /**
   * The extensions that the client supports, by name, with their settings.
   */
  extensions?: {
    [k: string]: unknown;
  } | null;
  requestAttestation?: boolean | null;
  explicitGatewayOauth?: boolean | null;
  mcpServerOpenaiFormElicitation?: boolean | null;
  requiredHumanApproval?: boolean | null;
}
export interface InitializeResponse {
  /**
   * Begins with the client's name and the version of the protocol: NAME/x.y.z (…).
   */
  userAgent: string;
  /**
   * The server's home folder.
   */
  codexHome: AbsolutePathBuf;
  /**
   * unix or windows.
   */
  platformFamily: string;
  /**
   * linux, macos or windows; on other systems, the name that Node.js uses.
   */
  platformOs: string;
  /**
   * The version of the protocol that the server implements, x.y.z.
   */
  protocolVersion: string;
  serverInfo: ServerInfo;
  capabilities: ServerCapabilities;
}
export interface ServerInfo {
  name: string;
  /**
   * The version of the server.
   */
  version: string;
}
/**
 * The server's capabilities.
 */
export interface ServerCapabilities {
  /**
   * The methods that the server serves, by group: the part of the name before the first slash.
   */
  methods: {
    [k: string]: string[];
  };
  /**
   * The sandbox program for commands, such as bubblewrap. Null: this machine has none. The server checks only with the first sandboxed command whether it works.
   */
  sandbox: string | null;
  /**
   * The transports that a server can serve: `stdio`, `ws` and `unix`. `--listen` chooses among them.
   */
  transports: string[];
  /**
   * The server's limits, by name. The name ends with the unit.
   */
  limits: {
    [k: string]: number;
  };
}
export interface ServerDiagnosticsResponse {
  process: ServerDiagnosticsProcess;
  gauges: ServerDiagnosticsGauge[];
  connections: ServerDiagnosticsConnection[];
}
export interface ServerDiagnosticsProcess {
  id: number;
  /**
   * The resident memory of the server process, in bytes. Null: not measured.
   */
  residentMemoryBytes: number | null;
  /**
   * Always null.
   */
  physicalFootprintBytes: null;
}
export interface ServerDiagnosticsGauge {
  /**
   * `app.connections.open`: open connections. `app.requests.in_flight`: requests in progress, including this one. `app.requests.queued`: requests that wait in a queue. `app.server_requests.pending`: requests to clients without a response. `core.threads.live`: loaded threads. `core.turns.running`: running turns.
   */
  name: string;
  value: number;
}
/**
 * An open connection of a client.
 */
export interface ServerDiagnosticsConnection {
  /**
   * Unique while the server runs.
   */
  id: number;
  /**
   * `stdio`, `unix`, or the address and port of the client of a web socket.
   */
  peer: string;
  /**
   * Null: it has not made its handshake.
   */
  client: ClientInfo | null;
  connectedAtMs: number;
  threadsFollowed: number;
  /**
   * The messages that the server has not passed on to the system, because the client does not read.
   */
  unreadMessages: number;
  /**
   * Their size.
   */
  unreadBytes: number;
}
export interface ServerConnectionCloseParams {
  /**
   * The id in `server/diagnostics`.
   */
  connectionId: number;
}
export interface ServerConnectionCloseResponse {
  /**
   * False: there is no such connection.
   */
  closed: boolean;
}
export interface WarningNotification {
  message: string;
  /**
   * The thread that the warning is about. Null: the whole server.
   */
  threadId: string | null;
}
export interface DeprecationNoticeNotification {
  summary: string;
  /**
   * The replacement. Null: there is none.
   */
  details: string | null;
}
export interface ServerRequestResolvedNotification {
  threadId: string;
  requestId: RequestId;
}
export interface ExternalAgentConfigNamed {
  name: string;
}
export interface ExternalAgentConfigDetails {
  /**
   * Always empty.
   *
   * @maxItems 0
   */
  plugins: [];
  /**
   * The skills that can be taken.
   */
  skills: ExternalAgentConfigNamed[];
  /**
   * The sessions that can be taken, the latest first.
   */
  sessions: ExternalAgentConfigSession[];
  /**
   * The MCP servers that can be taken.
   */
  mcpServers: ExternalAgentConfigNamed[];
  /**
   * The events whose hooks can be taken.
   */
  hooks: ExternalAgentConfigNamed[];
  /**
   * The sub-agents that can be taken.
   */
  subagents: ExternalAgentConfigNamed[];
  /**
   * The commands that can be taken, by the names that they get as skills.
   */
  commands: ExternalAgentConfigNamed[];
}
export interface ExternalAgentConfigSession {
  path: string;
  cwd: string;
  title?: string | null;
}
export interface ExternalAgentConfigMigrationItem {
  itemType: ExternalAgentConfigMigrationItemType;
  /**
   * For people: what is taken from where to where.
   */
  description: string;
  /**
   * The root of the project. Null: the user's home folder.
   */
  cwd: string | null;
  details: ExternalAgentConfigDetails | null;
}
export interface ExternalAgentConfigDetectParams {
  cwds?: string[] | null;
  includeHome?: boolean | null;
  /**
   * How long ago a session may have changed. Default: 30.
   */
  maxSessionAgeDays?: number | null;
  /**
   * The most sessions to find: the latest ones. Default: 50, at most 500.
   */
  maxSessions?: number | null;
  /**
   * The agent that the settings are of. heddle knows Claude Code (`claude`, `claude-code`); of another one, it finds nothing.
   */
  migrationSource?: string | null;
  /**
   * As `migrationSource`.
   */
  source?: string | null;
}
export interface ExternalAgentConfigDetectResponse {
  items: ExternalAgentConfigMigrationItem[];
  /**
   * Always empty.
   *
   * @maxItems 0
   */
  connectors: [];
}
export interface ExternalAgentConfigPlugins {
  marketplaceName: string;
  pluginNames: string[];
}
export interface ExternalAgentConfigWantedDetails {
  /**
   * The skills to take. Empty or absent: all.
   */
  skills?: ExternalAgentConfigNamed[] | null;
  /**
   * The MCP servers to take. Empty or absent: all.
   */
  mcpServers?: ExternalAgentConfigNamed[] | null;
  /**
   * The events whose hooks to take. Empty or absent: all.
   */
  hooks?: ExternalAgentConfigNamed[] | null;
  /**
   * Has no effect: heddle does not import these.
   */
  plugins?: ExternalAgentConfigPlugins[] | null;
  /**
   * The sessions to take, by their paths. Empty or absent: those that detect finds.
   */
  sessions?: ExternalAgentConfigSession[] | null;
  /**
   * The sub-agents to take. Empty or absent: all.
   */
  subagents?: ExternalAgentConfigNamed[] | null;
  /**
   * The commands to take, by the names that they get as skills. Empty or absent: all.
   */
  commands?: ExternalAgentConfigNamed[] | null;
  /**
   * Has no effect: heddle does not import these.
   */
  memory?: string[] | null;
}
export interface ExternalAgentConfigWantedItem {
  itemType: ExternalAgentConfigMigrationItemType;
  /**
   * Has no effect: it is for people.
   */
  description: string;
  cwd?: string | null;
  details?: ExternalAgentConfigWantedDetails | null;
}
export interface ExternalAgentConfigImportParams {
  migrationItems: ExternalAgentConfigWantedItem[];
  /**
   * The agent that the settings are of. heddle knows Claude Code (`claude`, `claude-code`); of another one, it finds nothing.
   */
  migrationSource?: string | null;
  /**
   * As `migrationSource`.
   */
  source?: string | null;
  /**
   * `externalAgentConfig/import/readHistories` returns it.
   */
  providerId?: string | null;
}
export interface ExternalAgentConfigImportResponse {
  importId: string;
}
export interface ExternalAgentConfigImportItemTypeSuccess {
  itemType: ExternalAgentConfigMigrationItemType;
  cwd: string | null;
  source: string | null;
  target: string | null;
  /**
   * What the user should know about it.
   */
  title: string | null;
}
export interface ExternalAgentConfigImportItemTypeFailure {
  itemType: ExternalAgentConfigMigrationItemType;
  cwd: string | null;
  source: string | null;
  /**
   * Why it was not taken.
   */
  message: string;
  /**
   * `read`: the source cannot be used. `select`: heddle does not have it. `write`: it cannot be put where it belongs.
   */
  failureStage: 'read' | 'select' | 'write';
  /**
   * Always null.
   */
  errorType: null;
  /**
   * Always null.
   */
  subErrorType: null;
}
export interface ExternalAgentConfigImportTypeResult {
  itemType: ExternalAgentConfigMigrationItemType;
  successes: ExternalAgentConfigImportItemTypeSuccess[];
  failures: ExternalAgentConfigImportItemTypeFailure[];
}
export interface ExternalAgentConfigImportProgressNotification {
  importId: string;
  itemTypeResults: ExternalAgentConfigImportTypeResult[];
}
export interface ExternalAgentConfigImportCompletedNotification {
  importId: string;
  itemTypeResults: ExternalAgentConfigImportTypeResult[];
}
export interface ExternalAgentConfigImportHistory {
  importId: string;
  providerId: string | null;
  completedAtMs: number;
  successes: ExternalAgentConfigImportItemTypeSuccess[];
  failures: ExternalAgentConfigImportItemTypeFailure[];
}
export interface ExternalAgentConfigImportHistoriesReadResponse {
  /**
   * The imports of this server, the latest first.
   */
  data: ExternalAgentConfigImportHistory[];
  /**
   * Always empty.
   *
   * @maxItems 0
   */
  connectors: [];
}
/**
 * Nothing is sent anywhere.
 */
export interface FeedbackSaveParams {
  /**
   * The kind of the report, such as `bug`.
   */
  classification: string;
  /**
   * The user's own words.
   */
  reason?: string | null;
  /**
   * The thread that the report is about.
   */
  threadId?: string | null;
  /**
   * Adds the server's last log messages and the last items of the thread, with what the user and the model have written. False if absent.
   */
  includeLogs?: boolean | null;
  /**
   * Files to attach: absolute paths, at most 10, of each at most the first 256 KiB.
   */
  extraLogFiles?: string[] | null;
  tags?: {
    [k: string]: string;
  } | null;
  /**
   * Where the report is written: an absolute path at which there is nothing yet.
   */
  savePath: string;
}
export interface FeedbackSaveResponse {
  savedPath: string;
  /**
   * The thread of the report. If it is about none, an id of the report.
   */
  threadId: string;
  /**
   * Always null.
   */
  promptHash: null;
}
export interface FeedbackUploadParams {
  classification: string;
  reason?: string | null;
  threadId?: string | null;
  includeLogs?: boolean | null;
  extraLogFiles?: string[] | null;
  tags?: {
    [k: string]: string;
  } | null;
}
export interface FeedbackUploadResponse {
  threadId: string;
  promptHash: string | null;
}
/**
 * A file has at most 25,116,672 bytes (almost 24 MiB).
 */
export interface FsReadFileParams {
  path: AbsolutePathBuf;
}
export interface FsReadFileResponse {
  dataBase64: string;
}
/**
 * A concurrent reader gets the old contents or the new ones.
 */
export interface FsWriteFileParams {
  path: AbsolutePathBuf;
  /**
   * The complete new contents, in base64 with padding.
   */
  dataBase64: string;
}
export interface FsCreateDirectoryParams {
  path: AbsolutePathBuf;
  /**
   * Also creates missing parent folders, and succeeds if the folder already exists. True if absent.
   */
  recursive?: boolean | null;
}
export interface FsGetMetadataParams {
  path: AbsolutePathBuf;
}
export interface FsGetMetadataResponse {
  isDirectory: boolean;
  /**
   * Whether it is a regular file.
   */
  isFile: boolean;
  /**
   * Whether the path itself is a symbolic link. The other fields describe the link's target.
   */
  isSymlink: boolean;
  /**
   * The creation time, in Unix milliseconds. 0 if the system does not report it.
   */
  createdAtMs: number;
  /**
   * The modification time, in Unix milliseconds.
   */
  modifiedAtMs: number;
}
export interface FsReadDirectoryParams {
  path: AbsolutePathBuf;
}
/**
 * For a symbolic link, `isDirectory` and `isFile` describe its target. Both are false for a link without a target and for other kinds of files.
 */
export interface FsReadDirectoryEntry {
  /**
   * The name without the path of the folder.
   */
  fileName: string;
  isDirectory: boolean;
  isFile: boolean;
}
export interface FsReadDirectoryResponse {
  /**
   * Sorted by name.
   */
  entries: FsReadDirectoryEntry[];
}
export interface FsRemoveParams {
  path: AbsolutePathBuf;
  /**
   * Also removes a folder that is not empty. True if absent.
   */
  recursive?: boolean | null;
  /**
   * Succeeds if the path does not exist. True if absent.
   */
  force?: boolean | null;
}
/**
 * A file replaces an existing file; for a folder or a link, the destination must not exist. Links are copied as links. Pipes, sockets and devices inside a folder are skipped.
 */
export interface FsCopyParams {
  sourcePath: AbsolutePathBuf;
  destinationPath: AbsolutePathBuf;
  /**
   * Required to copy a folder. If part of the folder cannot be copied, the copy is removed. False if absent.
   */
  recursive?: boolean | null;
}
/**
 * The path need not exist yet, and may be removed and created again.
 */
export interface FsWatchParams {
  /**
   * The client's name for the watch. No other watch of the connection may have it.
   */
  watchId: string;
  path: AbsolutePathBuf;
}
export interface FsWatchResponse {
  /**
   * The watched path without `.`, `..` and trailing slashes.
   */
  path: AbsolutePathBuf;
}
export interface FsUnwatchParams {
  watchId: string;
}
/**
 * Changes that happen shortly after each other are reported together.
 */
export interface FsChangedNotification {
  watchId: string;
  /**
   * The paths that were created, changed, renamed or removed: the watched path as the client gave it, or entries below it.
   */
  changedPaths: AbsolutePathBuf[];
}
export interface GitDiffToRemoteParams {
  /**
   * A folder of the working tree: an absolute path.
   */
  cwd: string;
}
export interface GitDiffToRemoteResponse {
  /**
   * The commit that the working tree was compared with.
   */
  sha: string;
  /**
   * A unified diff in git's format. Empty if nothing differs.
   */
  diff: string;
}
/**
 * A thread's goal. Times are in Unix seconds.
 */
export interface ThreadGoal {
  threadId: string;
  objective: string;
  status: ThreadGoalStatus;
  /**
   * The maximum number of tokens. Null: no limit.
   */
  tokenBudget: number | null;
  /**
   * The tokens that the goal's turns have used: input tokens that were not cached, and output tokens.
   */
  tokensUsed: number;
  /**
   * The total duration of the goal's turns, in seconds.
   */
  timeUsedSeconds: number;
  createdAt: number;
  updatedAt: number;
}
/**
 * Absent fields stay as they are.
 */
export interface ThreadGoalSetParams {
  threadId: string;
  /**
   * At most 4,000 characters, without surrounding whitespace, which is removed.
   */
  objective?: string | null;
  /**
   * `active` if absent and the goal is new.
   */
  status?: ThreadGoalStatus | null;
  /**
   * The maximum number of tokens, more than 0. Null differs from absent: it removes the budget.
   */
  tokenBudget?: number | null;
  /**
   * Has no effect: the change is the same whoever asks for it.
   */
  origin?: ThreadGoalMutationOrigin | null;
}
export interface ThreadGoalSetResponse {
  goal: ThreadGoal;
}
export interface ThreadGoalGetParams {
  threadId: string;
}
export interface ThreadGoalGetResponse {
  goal: ThreadGoal | null;
}
export interface ThreadGoalClearParams {
  threadId: string;
  /**
   * Has no effect: the change is the same whoever asks for it.
   */
  origin?: ThreadGoalMutationOrigin | null;
}
export interface ThreadGoalClearResponse {
  /**
   * False if there was no goal.
   */
  cleared: boolean;
}
export interface ThreadGoalClearedNotification {
  threadId: string;
}
export interface ThreadGoalUpdatedNotification {
  threadId: string;
  /**
   * The turn that changed the goal. Null: a client changed it.
   */
  turnId: string | null;
  goal: ThreadGoal;
}
export interface GuardianApprovalReview {
  status: GuardianApprovalReviewStatus;
  /**
   * Null: the guardian has not assessed it.
   */
  riskLevel: GuardianRiskLevel | null;
  /**
   * Null: the guardian has not assessed it.
   */
  userAuthorization: GuardianUserAuthorization | null;
  /**
   * Why, or how the review failed. Null: no reason was given.
   */
  rationale: string | null;
}
/**
 * The requested permissions. Null: none of this kind.
 */
export interface RequestPermissionProfile {
  network: AdditionalNetworkPermissions | null;
  fileSystem: AdditionalFileSystemPermissions | null;
}
export interface ItemGuardianApprovalReviewStartedNotification {
  threadId: string;
  turnId: string;
  /**
   * In Unix milliseconds.
   */
  startedAtMs: number;
  reviewId: string;
  /**
   * The id of the item that shows the action; for a request for permissions, the model's id of the call. Null: there is none yet.
   */
  targetItemId: string | null;
  review: GuardianApprovalReview;
  action: GuardianApprovalReviewAction;
}
export interface ItemGuardianApprovalReviewCompletedNotification {
  threadId: string;
  turnId: string;
  startedAtMs: number;
  completedAtMs: number;
  reviewId: string;
  targetItemId: string | null;
  decisionSource: AutoReviewDecisionSource;
  review: GuardianApprovalReview;
  action: GuardianApprovalReviewAction;
}
/**
 * A review, as it is kept with the item that shows the action.
 */
export interface ItemApprovalReview {
  reviewId: string;
  /**
   * The turn of the action.
   */
  turnId: string;
  startedAtMs: number;
  /**
   * Null: the review has not ended, or a kill of the server ended it.
   */
  completedAtMs: number | null;
  review: GuardianApprovalReview;
  action: GuardianApprovalReviewAction;
  /**
   * Identifies the whole action, with the files that a command outside the sandbox depends on: a change of any part gives another hash. Null: heddle cannot tell all these files, so the action cannot be recognized again.
   */
  actionHash: string | null;
}
export interface StrictReviewRequiredNotification {
  threadId: string;
  turnId: string;
  /**
   * In Unix milliseconds.
   */
  startedAtMs: number;
}
export interface GuardianWarningNotification {
  threadId: string;
  message: string;
}
/**
 * The model is told that the user approves the action. The approval holds until the end of the next turn that begins.
 */
export interface ThreadApproveGuardianDeniedActionParams {
  threadId: string;
  /**
   * The params of the `item/autoApprovalReview/completed` of the denial.
   */
  event: unknown;
}
export interface ThreadGuardianReviewParams {
  threadId: string;
}
export interface ThreadGuardianAssessment {
  outcome: GuardianAssessmentOutcome;
  riskLevel: GuardianRiskLevel;
  userAuthorization: GuardianUserAuthorization;
  rationale: string;
}
/**
 * The last review of the thread.
 */
export interface ThreadGuardianReviewResponse {
  /**
   * The `targetItemId` of the review.
   */
  callId: string;
  /**
   * Null: the review gave none, because it failed or was aborted.
   */
  assessment: ThreadGuardianAssessment | null;
}
export interface HookOutputEntry {
  kind: HookOutputEntryKind;
  text: string;
}
export interface HookRunSummary {
  /**
   * The same in both notifications of a run. A later run of the hook may have it, too.
   */
  id: string;
  eventName: HookEventName;
  handlerType: HookHandlerType;
  executionMode: HookExecutionMode;
  scope: HookScope;
  /**
   * The absolute path of the file that defines the hook.
   */
  sourcePath: string;
  source: HookSource;
  /**
   * The position of the hook in `hooks/list`.
   */
  displayOrder: number;
  status: HookRunStatus;
  /**
   * The text of the hook for the time that it runs.
   */
  statusMessage: string | null;
  /**
   * Unix seconds.
   */
  startedAt: number;
  /**
   * Unix seconds.
   */
  completedAt: number | null;
  durationMs: number | null;
  entries: HookOutputEntry[];
}
export interface HookStartedNotification {
  threadId: string;
  /**
   * Null: no turn runs.
   */
  turnId: string | null;
  run: HookRunSummary;
}
export interface HookCompletedNotification {
  threadId: string;
  /**
   * Null: no turn runs.
   */
  turnId: string | null;
  run: HookRunSummary;
}
export interface HookErrorInfo {
  path: string;
  message: string;
}
export interface HooksListEntry {
  cwd: string;
  hooks: HookMetadata[];
  /**
   * About parts of files that are not used.
   */
  warnings: string[];
  /**
   * About files that cannot be used.
   */
  errors: HookErrorInfo[];
}
export interface HooksListParams {
  /**
   * The working directories whose hooks are listed. Absent or empty: that of the thread, or else of the server.
   */
  cwds?: string[] | null;
  /**
   * A thread whose working directory is listed, before `cwds`.
   */
  threadId?: string | null;
}
export interface HooksListResponse {
  data: HooksListEntry[];
}
export interface TextElement {
  byteRange: ByteRange;
  /**
   * The text that the client displays instead of the span. Null: none.
   */
  placeholder?: string | null;
}
/**
 * A span of a text, in bytes of its UTF-8 encoding. The end is exclusive.
 */
export interface ByteRange {
  start: number;
  end: number;
}
export interface HookPromptFragment {
  text: string;
  hookRunId: string;
}
export interface MemoryCitation {
  entries: MemoryCitationEntry[];
  threadIds: string[];
}
export interface MemoryCitationEntry {
  path: string;
  lineStart: number;
  lineEnd: number;
  note: string;
}
export interface AgentMessageModeration {
  moderated: boolean;
  display?: AgentMessageDisplay | null;
}
export interface AgentMessageDisplay {
  action: string;
  blockType?: string | null;
  checkTrustedContacts?: boolean | null;
  cyberTrustedAccess?: boolean | null;
}
export interface AsyncUserInputQuestion {
  title: string;
  options?: string[] | null;
}
export interface FileUpdateChange {
  path: string;
  kind: PatchChangeKind;
  /**
   * A unified diff. For an added or deleted file: its content.
   */
  diff: string;
}
export interface McpAppUi {
  resourceUri: string;
  preferredModelDisplayMode: 'inline' | 'fullscreen';
}
export interface McpToolCallAppContext {
  connectorId: string;
  appName?: string | null;
  actionName?: string | null;
  linkId?: string | null;
  resourceUri?: string | null;
}
export interface McpToolCallResult {
  content: unknown[];
  structuredContent?: unknown;
  _meta?: unknown;
}
export interface McpToolCallError {
  message: string;
}
export interface CollabAgentState {
  status: CollabAgentStatus;
  /**
   * The agent's last message. Null: none.
   */
  message?: string | null;
}
export interface ImageGenerationInputImage {
  path: AbsolutePathBuf;
  sha256: string;
}
export interface ItemStartedNotification {
  threadId: string;
  turnId: string;
  item: ThreadItem;
  startedAtMs: number;
}
export interface ItemCompletedNotification {
  threadId: string;
  turnId: string;
  item: ThreadItem;
  completedAtMs: number;
}
export interface AgentMessageDeltaNotification {
  threadId: string;
  turnId: string;
  itemId: string;
  delta: string;
}
export interface FileChangeOutputDeltaNotification {
  threadId: string;
  turnId: string;
  itemId: string;
  delta: string;
}
/**
 * Each notification contains all of it, with paths and changes as the model writes them. The fileChange item with this id starts after the patch has been verified against the files.
 */
export interface FileChangePatchUpdatedNotification {
  threadId: string;
  turnId: string;
  itemId: string;
  changes: FileUpdateChange[];
}
export interface PlanDeltaNotification {
  threadId: string;
  turnId: string;
  itemId: string;
  delta: string;
}
export interface ReasoningSummaryPartAddedNotification {
  threadId: string;
  turnId: string;
  itemId: string;
  summaryIndex: number;
}
export interface ReasoningSummaryTextDeltaNotification {
  threadId: string;
  turnId: string;
  itemId: string;
  delta: string;
  summaryIndex: number;
}
export interface ReasoningTextDeltaNotification {
  threadId: string;
  turnId: string;
  itemId: string;
  delta: string;
  contentIndex: number;
}
export interface JSONRPCRequest {
  id: RequestId;
  method: string;
  params?: unknown;
}
export interface JSONRPCNotification {
  method: string;
  /**
   * When the server made the notification, in Unix milliseconds. Only the server sets it, and always.
   */
  emittedAtMs?: number;
  params?: unknown;
}
export interface JSONRPCResponse {
  id: RequestId;
  result: unknown;
}
export interface JSONRPCError {
  id: RequestId;
  error: JSONRPCErrorError;
}
export interface JSONRPCErrorError {
  code: number;
  /**
   * The message, to show to people.
   */
  message: string;
  /**
   * In the server's errors: an object with `code`, a stable identifier of the error.
   */
  data?: unknown;
}
export interface ListMcpServerStatusParams {
  cursor?: string | null;
  limit?: number | null;
  /**
   * `full` if absent.
   */
  detail?: McpServerStatusDetail | null;
  /**
   * Only this server.
   */
  serverName?: string | null;
  /**
   * The servers of this loaded thread. Absent: those of the configuration for the server's working directory.
   */
  threadId?: string | null;
}
export interface ListMcpServerStatusResponse {
  data: McpServerStatus[];
  nextCursor: string | null;
}
export interface McpServerStatus {
  name: string;
  /**
   * Null: the request names no thread.
   */
  runtimeStatus: McpServerConnectionStatus | null;
  pluginId: null;
  /**
   * The origin of a server that is reached by HTTP.
   */
  httpOrigin: string | null;
  serverInfo: McpServerInfo | null;
  /**
   * As the server declares them. Null: it is not connected.
   */
  serverCapabilities: unknown;
  /**
   * Always null.
   */
  toolListMeta: unknown;
  /**
   * By name, without those that the configuration disables.
   */
  tools: {
    [k: string]: McpServerTool;
  };
  /**
   * Why the tools are not known.
   */
  toolsError: string | null;
  resources: McpResource[];
  resourceTemplates: McpResourceTemplate[];
  authStatus: McpAuthStatus;
}
export interface McpServerInfo {
  name: string;
  version: string;
  title?: string | null;
  description?: string | null;
  icons?: unknown[] | null;
  websiteUrl?: string | null;
}
/**
 * A tool as the server describes it.
 */
export interface McpServerTool {
  name: string;
  title?: string | null;
  description?: string | null;
  inputSchema: unknown;
  outputSchema?: unknown;
  annotations?: unknown;
  icons?: unknown[] | null;
  _meta?: unknown;
}
export interface McpResource {
  name: string;
  uri: string;
  title?: string | null;
  description?: string | null;
  mimeType?: string | null;
  size?: number | null;
  annotations?: unknown;
  icons?: unknown[] | null;
  _meta?: unknown;
}
export interface McpResourceTemplate {
  name: string;
  uriTemplate: string;
  title?: string | null;
  description?: string | null;
  mimeType?: string | null;
  annotations?: unknown;
}
export interface McpResourceReadParams {
  server: string;
  uri: string;
  /**
   * The thread whose server it is. Absent: that of the configuration for the server's working directory.
   */
  threadId?: string | null;
  /**
   * Passed on to the server.
   */
  _meta?: {
    [k: string]: unknown;
  } | null;
  connectorId?: string | null;
  /**
   * Returned in the response. Needs threadId.
   */
  originCallId?: string | null;
  target?: McpResourceReadTarget | null;
}
export interface McpResourceReadTarget {
  connectorId: string;
  linkId: string | null;
}
export interface McpResourceReadResponse {
  contents: McpResourceContent[];
  originCallId: string | null;
}
export interface McpServerToolCallParams {
  server: string;
  threadId: string;
  tool: string;
  /**
   * An object.
   */
  arguments?: unknown;
  /**
   * An object, which is passed on to the server.
   */
  _meta?: unknown;
}
export interface McpServerToolCallResponse {
  content: unknown[];
  structuredContent?: unknown;
  isError?: boolean | null;
  _meta?: unknown;
}
export interface McpServerStatusUpdatedNotification {
  threadId: string | null;
  name: string;
  status: McpServerStartupState;
  error: string | null;
  failureReason: McpServerStartupFailureReason | null;
}
export interface McpToolCallProgressNotification {
  threadId: string;
  turnId: string;
  itemId: string;
  message: string;
}
export interface McpElicitationSchema {
  $schema?: string;
  type: 'object';
  properties: {
    [k: string]: McpElicitationPrimitiveSchema;
  };
  required?: string[];
}
export interface McpElicitationConstOption {
  const: string;
  title: string;
}
export interface McpServerElicitationRequestResponse {
  action: McpServerElicitationAction;
  /**
   * The answers of an accepted form, as an object.
   */
  content?: unknown;
  /**
   * `persist`: `session` or `always`, for an approval that is to last.
   */
  _meta?: unknown;
}
export interface McpServerOauthLoginParams {
  name: string;
  /**
   * The thread whose server it is. Absent: that of the configuration.
   */
  threadId?: string | null;
  /**
   * Absent: those of the configuration, else those that the server asks for.
   */
  scopes?: string[] | null;
  /**
   * How long the user may take; 5 minutes if absent.
   */
  timeoutSecs?: number | null;
  /**
   * `auto` if absent.
   */
  clientRegistration?: McpServerOauthClientRegistration | null;
}
export interface McpServerOauthLoginResponse {
  authorizationUrl: string;
  loginId: string | null;
}
export interface McpServerOauthLogoutParams {
  name: string;
  threadId?: string | null;
}
export interface McpServerOauthLogoutResponse {
  wasLoggedIn: boolean;
}
export interface McpServerOauthLoginCompletedNotification {
  name: string;
  success: boolean;
  error: string | null;
  loginId: string | null;
  threadId: string | null;
}
export interface ModelListParams {
  cursor?: string | null;
  limit?: number | null;
  /**
   * Has no effect: the server hides no models.
   */
  includeHidden?: boolean | null;
  /**
   * The provider whose models are listed. The configured one if absent.
   */
  modelProvider?: string | null;
}
export interface ModelListResponse {
  data: Model[];
  nextCursor: string | null;
}
export interface Model {
  id: string;
  /**
   * The name to use in `turn/start`.
   */
  model: string;
  /**
   * The model that replaces this one. Null: none.
   */
  upgrade: string | null;
  /**
   * Always null.
   */
  upgradeInfo: null;
  /**
   * Always null.
   */
  availabilityNux: null;
  displayName: string;
  description: string;
  modelSpecialty: string | null;
  hidden: boolean;
  supportedReasoningEfforts: ReasoningEffortOption[];
  defaultReasoningEffort: ReasoningEffort;
  inputModalities: InputModality[];
  supportsPersonality: boolean;
  /**
   * Always null.
   */
  multiAgentVersion: null;
  additionalSpeedTiers: string[];
  serviceTiers: ModelServiceTier[];
  defaultServiceTier: string | null;
  /**
   * Always null.
   */
  availableAccessPrograms: null;
  /**
   * Whether a thread that names no model uses this one.
   */
  isDefault: boolean;
}
export interface ReasoningEffortOption {
  reasoningEffort: ReasoningEffort;
  description: string;
}
export interface ModelServiceTier {
  id: string;
  name: string;
  description: string;
}
export interface ModelProviderListResponse {
  /**
   * The configured providers, then the built-in ones. Providers with an invalid configuration are left out.
   */
  data: ModelProviderSummary[];
  /**
   * The provider of a thread that names none.
   */
  defaultProviderId: string;
  /**
   * Whether writing `model_provider` with `config/value/write` changes the default.
   */
  canChangeDefault: boolean;
}
export interface ModelProviderSummary {
  /**
   * The id to use in `thread/start`.
   */
  id: string;
  /**
   * The display name.
   */
  name: string;
  /**
   * Whether `modelProvider/config/write` can change it: a provider in the user's config.toml.
   */
  canEdit: boolean;
  /**
   * The base URL of its API. Null: it is not reached over a network.
   */
  baseUrl: string | null;
  settings: ProviderSettings;
}
export interface ModelProviderCapabilitiesReadResponse {
  /**
   * Whether requests can group tools by namespaces.
   */
  namespaceTools: boolean;
  /**
   * Always false: this server offers no tool for it.
   */
  imageGeneration: boolean;
  webSearch: boolean;
}
export interface ModelProviderConfigWriteParams {
  settings: ProviderSettingsPatch;
}
export interface ModelProviderConfigWriteResponse {
  provider: ModelProviderSummary;
}
export interface ModelReroutedNotification {
  threadId: string;
  turnId: string;
  fromModel: string;
  toModel: string;
  reason: ModelRerouteReason;
}
export interface PermissionProfileListParams {
  /**
   * The `nextCursor` of an earlier response.
   */
  cursor?: string | null;
  /**
   * The maximum number of profiles in the response, from 1 to 1,000; all profiles if absent. A number outside this range is replaced by the nearest one in it.
   */
  limit?: number | null;
  /**
   * The absolute path of the folder whose configuration is read. The server's working directory if absent.
   */
  cwd?: string | null;
}
export interface PermissionProfileListResponse {
  data: PermissionProfileSummary[];
  nextCursor: string | null;
}
export interface PermissionProfileSummary {
  /**
   * The id to use as `permissions`.
   */
  id: string;
  description: string | null;
  /**
   * False if the server cannot enforce the profile. It then refuses to run a thread with it.
   */
  allowed: boolean;
}
/**
 * The permission profile that a thread's sandbox policy comes from.
 */
export interface ActivePermissionProfile {
  id: string;
  /**
   * The profile that it extends. Null: none.
   */
  extends: string | null;
}
export interface PermissionsRequestApprovalParams {
  threadId: string;
  agent?: AskingAgent;
  turnId: string;
  /**
   * The model's id for the call. There is no item with this id.
   */
  itemId: string;
  environmentId: string | null;
  /**
   * The time of the request, in Unix milliseconds.
   */
  startedAtMs: number;
  cwd: AbsolutePathBuf;
  /**
   * The reason that the model gave. Null: none.
   */
  reason: string | null;
  permissions: RequestPermissionProfile;
}
export interface PermissionsRequestApprovalResponse {
  permissions: GrantedPermissionProfile;
  /**
   * The duration of the permissions; `turn` if absent.
   */
  scope?: PermissionGrantScope | null;
  /**
   * True: until the turn ends, the guardian model reviews every command and every patch before it is performed, whoever the reviewer is.
   */
  strictAutoReview?: boolean | null;
}
/**
 * The granted permissions. Permissions that were not requested are ignored.
 */
export interface GrantedPermissionProfile {
  network?: AdditionalNetworkPermissions | null;
  fileSystem?: AdditionalFileSystemPermissions | null;
}
/**
 * Rows and columns of a terminal, in characters. Neither may be 0.
 */
export interface ProcessTerminalSize {
  rows: number;
  cols: number;
}
/**
 * When the connection ends, the program and everything that it started are killed.
 */
export interface ProcessSpawnParams {
  /**
   * The program and its arguments, which are not interpreted by a shell. Not empty.
   */
  command: string[];
  /**
   * The client's name for the process. No other running process of the connection may have it. Not empty.
   */
  processHandle: string;
  cwd: AbsolutePathBuf;
  /**
   * Changes to the environment that commands get: a string sets a variable, null removes it.
   */
  env?: {
    [k: string]: string | null;
  } | null;
  /**
   * The timeout, in milliseconds; 10 seconds if absent. After it the process is killed, and the exit code is 124. Null differs from absent: there is no timeout.
   */
  timeoutMs?: number | null;
  /**
   * The maximum length of stdout and of stderr, in bytes each; 1 MiB if absent. Further output is dropped. Null differs from absent: streamed output has no limit, and output that is not streamed is limited to 16 MiB for each stream.
   */
  outputBytesCap?: number | null;
  /**
   * Sends the output in `process/outputDelta` notifications and leaves it out of `process/exited`.
   */
  streamStdoutStderr?: boolean | null;
  /**
   * Whether the client can write to stdin. If not, stdin is empty.
   */
  streamStdin?: boolean | null;
  /**
   * Whether it runs in a terminal. If so, stdin and output are streamed, and all output is `stdout`.
   */
  tty?: boolean | null;
  /**
   * The size of the terminal; 24 rows and 80 columns if absent. Allowed only with `tty`.
   */
  size?: ProcessTerminalSize | null;
}
/**
 * The response is sent when the process has taken the bytes. `deltaBase64` or `closeStdin` is required.
 */
export interface ProcessWriteStdinParams {
  processHandle: string;
  deltaBase64?: string | null;
  /**
   * Closes stdin, after `deltaBase64` has been written.
   */
  closeStdin?: boolean | null;
}
export interface ProcessResizePtyParams {
  processHandle: string;
  size: ProcessTerminalSize;
}
export interface ProcessKillParams {
  processHandle: string;
}
export interface ProcessOutputDeltaNotification {
  processHandle: string;
  stream: ProcessOutputStream;
  /**
   * The output bytes. A multi-byte character can be split between two notifications.
   */
  deltaBase64: string;
  /**
   * True in the last notification for a stream whose output cap has been reached.
   */
  capReached: boolean;
}
/**
 * The output is decoded as UTF-8. If a signal ended the process, the exit code is 128 plus the number of the signal.
 */
export interface ProcessExitedNotification {
  processHandle: string;
  exitCode: number;
  stdout: string;
  stdoutCapReached: boolean;
  stderr: string;
  stderrCapReached: boolean;
  /**
   * True if a process that it started still held its output open. The server did not wait for that output.
   */
  outputDrainTimedOut: boolean;
}
/**
 * Input that waits for its turn.
 */
export interface QueuedSubmission {
  id: string;
  /**
   * The `clientId` of the userMessage item that the turn will have.
   */
  clientUserMessageId: string;
  input: UserInput[];
  /**
   * Facts that the client adds to the model requests of the turn.
   */
  responsesapiClientMetadata: {
    [k: string]: string;
  } | null;
}
export interface ThreadQueueAddParams {
  threadId: string;
  /**
   * Becomes the `clientId` of the userMessage item. At most 256 characters. If the thread's queue has this ID, or one of its last 100 turns from the queue began with it, nothing is added, and the response has the earlier entry's ID.
   */
  clientUserMessageId: string;
  /**
   * At least one part, and at most 1,048,576 characters of text.
   */
  input: UserInput[];
  /**
   * Facts that the client adds to the model requests of the turn.
   */
  responsesapiClientMetadata?: {
    [k: string]: string;
  } | null;
}
export interface ThreadQueueAddResponse {
  queuedSubmission: QueuedSubmission;
}
export interface ThreadQueueListParams {
  threadId: string;
  /**
   * `nextCursor` of the page before.
   */
  cursor?: string | null;
  /**
   * The number of entries on a page: by default 25. A page with long entries has fewer.
   */
  limit?: number | null;
}
export interface ThreadQueueListResponse {
  data: QueuedSubmission[];
  /**
   * Null on the last page.
   */
  nextCursor: string | null;
  /**
   * Null: the entries start turns by themselves. heddle adds this field.
   */
  heldBecause: ThreadQueueHold | null;
}
/**
 * Replaces the input and the metadata. The place in the queue and the IDs stay.
 */
export interface ThreadQueueUpdateParams {
  threadId: string;
  queuedSubmissionId: string;
  /**
   * At least one part, and at most 1,048,576 characters of text.
   */
  input: UserInput[];
  /**
   * Facts that the client adds to the model requests of the turn.
   */
  responsesapiClientMetadata?: {
    [k: string]: string;
  } | null;
}
export interface ThreadQueueUpdateResponse {
  queuedSubmission: QueuedSubmission;
}
export interface ThreadQueueReorderParams {
  threadId: string;
  /**
   * The IDs of all entries in their new order, each once.
   */
  queuedSubmissionIds: string[];
}
export interface ThreadQueueDeleteParams {
  threadId: string;
  queuedSubmissionId: string;
}
export interface ThreadQueueDeleteResponse {
  /**
   * False if the queue has no such entry, for example because its turn has started.
   */
  deleted: boolean;
}
export interface ThreadQueueStartParams {
  threadId: string;
  /**
   * The entry to start with. By default the first.
   */
  queuedSubmissionId?: string | null;
}
export interface ThreadQueueStartResponse {
  turn: Turn;
}
export interface Turn {
  id: string;
  /**
   * The turn that this one works for, in the end: of an agent's turn, that of the uppermost thread. Otherwise the turn itself, unless a client named another one.
   */
  rootTurnId: string | null;
  items: ThreadItem[];
  itemsView: TurnItemsView;
  status: TurnStatus;
  /**
   * The error, if the turn failed. Null otherwise.
   */
  error: TurnError | null;
  /**
   * The start, in Unix seconds.
   */
  startedAt: number | null;
  /**
   * The end, in Unix seconds.
   */
  completedAt: number | null;
  durationMs: number | null;
}
export interface TurnError {
  message: string;
  codexErrorInfo: CodexErrorInfo | null;
  additionalDetails: string | null;
}
export interface HttpFailure {
  httpStatusCode: number | null;
}
export interface ThreadQueueChangedNotification {
  threadId: string;
  /**
   * Null: the entries start turns by themselves. heddle adds this field.
   */
  heldBecause: ThreadQueueHold | null;
}
export interface RawResponseItemCompletedNotification {
  threadId: string;
  /**
   * The turn that reads or has written the item.
   */
  turnId: string;
  item: ResponseItem;
}
export interface GhostCommit {
  id: string;
  parent?: string | null;
  preexisting_untracked_files: string[];
  preexisting_untracked_dirs: string[];
}
export interface ConfigurationReasoning {
  effort: ReasoningEffort;
}
export interface RawResponseCompletedNotification {
  threadId: string;
  turnId: string;
  /**
   * The provider's id, or one of the server if the provider gives none.
   */
  responseId: string;
  /**
   * Null: the provider did not tell it.
   */
  usage: TokenUsageBreakdown | null;
}
export interface TokenUsageBreakdown {
  totalTokens: number;
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteInputTokens: number;
  outputTokens: number;
  reasoningOutputTokens: number;
}
export interface UncommittedChangesReviewTarget {
  type: 'uncommittedChanges';
}
export interface BaseBranchReviewTarget {
  type: 'baseBranch';
  branch: string;
}
export interface CommitReviewTarget {
  type: 'commit';
  sha: string;
  /**
   * The subject of the commit, to show.
   */
  title?: string | null;
}
export interface CustomReviewTarget {
  type: 'custom';
  instructions: string;
}
/**
 * The review's turn takes no input.
 */
export interface ReviewStartParams {
  threadId: string;
  target: ReviewTarget;
  /**
   * By default `inline`.
   */
  delivery?: ReviewDelivery | null;
}
/**
 * The review's turn, with a userMessage item that names the target for people.
 */
export interface ReviewStartResponse {
  turn: Turn;
  /**
   * The thread of the review: the fork if it is detached.
   */
  reviewThreadId: string;
}
/**
 * Clients that search as the user types use a session, which lists the files only once.
 */
export interface FuzzyFileSearchParams {
  /**
   * Words that all have to match, in any order: letters in this order anywhere in the path, whatever their case. 'word: exactly these letters; ^word: at the start; word$: at the end; !word: not in the path. Empty: nothing matches.
   */
  query: string;
  /**
   * Folders. A relative path is relative to the server's working directory. One that does not exist has no files.
   */
  roots: string[];
  /**
   * A later search of the same connection with this token ends this one, which then finds nothing.
   */
  cancellationToken?: string | null;
}
export interface FuzzyFileSearchResponse {
  files: FuzzyFileSearchResults;
}
export interface FuzzyFileSearchResult {
  root: AbsolutePathBuf;
  /**
   * Relative to the root.
   */
  path: string;
  match_type: FuzzyFileSearchMatchType;
  /**
   * The last part of the path.
   */
  file_name: string;
  /**
   * Higher is better. Comparable only within the results of one query.
   */
  score: number;
  /**
   * The characters of the path that match, from 0, in ascending order.
   */
  indices: number[] | null;
}
/**
 * The session ends with the connection.
 */
export interface FuzzyFileSearchSessionStartParams {
  /**
   * Chosen by the client. Replaces the connection's session with this id.
   */
  sessionId: string;
  roots: string[];
}
export interface FuzzyFileSearchSessionUpdateParams {
  sessionId: string;
  query: string;
}
export interface FuzzyFileSearchSessionStopParams {
  sessionId: string;
}
export interface FuzzyFileSearchSessionUpdatedNotification {
  sessionId: string;
  query: string;
  files: FuzzyFileSearchResults;
}
export interface FuzzyFileSearchSessionCompletedNotification {
  sessionId: string;
}
/**
 * A collaboration mode with its model settings, which take precedence over those of the thread.
 */
export interface CollaborationMode {
  mode: ModeKind;
  settings: CollaborationModeSettings;
}
export interface CollaborationModeSettings {
  model: string;
  reasoning_effort?: ReasoningEffort | null;
  /**
   * Instructions for the mode. Null: the built-in ones.
   */
  developer_instructions?: string | null;
}
/**
 * An environment in which the turn can run commands.
 */
export interface TurnEnvironmentParams {
  environmentId: string;
  cwd: string;
  runtimeWorkspaceRoots?: string[] | null;
}
export interface SkillsListParams {
  /**
   * Working folders; by default the server's. At most 50.
   */
  cwds?: string[] | null;
  /**
   * Has no effect: skills are always read anew.
   */
  forceReload?: boolean | null;
}
export interface SkillsListResponse {
  data: SkillsListEntry[];
}
export interface SkillsListEntry {
  /**
   * As it was asked for.
   */
  cwd: string;
  /**
   * The project's first, then by name. If several have one name, the name means the first.
   */
  skills: SkillMetadata[];
  /**
   * Files that cannot be used.
   */
  errors: SkillErrorInfo[];
}
export interface SkillMetadata {
  name: string;
  /**
   * For the model.
   */
  description: string;
  /**
   * For people.
   */
  shortDescription: string | null;
  interface: SkillInterface | null;
  dependencies: SkillDependencies | null;
  /**
   * The absolute path of the SKILL.md.
   */
  path: string;
  scope: SkillScope;
  /**
   * False: the user has switched it off.
   */
  enabled: boolean;
  /**
   * Always null: there are no plugins.
   */
  pluginId: null;
}
/**
 * How to show the skill, from its agents/openai.yaml.
 */
export interface SkillInterface {
  displayName: string | null;
  shortDescription: string | null;
  iconSmall: AbsolutePathBuf | null;
  iconLarge: AbsolutePathBuf | null;
  iconSmallUrl: string | null;
  iconLargeUrl: string | null;
  /**
   * `#rrggbb`.
   */
  brandColor: string | null;
  defaultPrompt: string | null;
}
export interface SkillDependencies {
  tools: SkillToolDependency[];
}
export interface SkillToolDependency {
  /**
   * Such as `mcp`.
   */
  type: string;
  /**
   * The name of the tool or server.
   */
  value: string;
  description: string | null;
  transport: string | null;
  command: string | null;
  url: string | null;
}
export interface SkillErrorInfo {
  path: string;
  message: string;
}
export interface SkillsConfigWriteParams {
  path?: AbsolutePathBuf | null;
  /**
   * All skills of this name. Exactly one of `path` and `name` is needed.
   */
  name?: string | null;
  enabled: boolean;
}
export interface SkillsConfigWriteResponse {
  effectiveEnabled: boolean;
}
/**
 * They count for threads that are loaded from then on.
 */
export interface SkillsExtraRootsSetParams {
  /**
   * At most 50.
   */
  extraRoots: AbsolutePathBuf[];
}
export interface ThreadArchiveParams {
  threadId: string;
}
export interface ThreadUnarchiveParams {
  threadId: string;
}
export interface ThreadUnarchiveResponse {
  /**
   * The thread, without its turns.
   */
  thread: Thread;
}
/**
 * A conversation between a user and the agent. Times are in Unix seconds.
 */
export interface Thread {
  /**
   * A UUIDv7. Ids of later threads sort after those of earlier ones.
   */
  id: string;
  /**
   * The id of the session, which a thread shares with the threads of the agents that it started.
   */
  sessionId: string;
  forkedFromId: string | null;
  /**
   * Always null: there are no attached threads.
   */
  attachedToThreadId: null;
  /**
   * Whether clients can send input to the thread. Null: it is not loaded, so nothing is known.
   */
  canAcceptDirectInput: boolean | null;
  environments: ThreadEnvironment[] | null;
  /**
   * Always null.
   */
  extra: null;
  /**
   * The thread whose agent started this one. Null: none.
   */
  parentThreadId: string | null;
  /**
   * The text of the first user message, or the thread's goal if that was set first. At most 500 characters. Empty if there is neither.
   */
  preview: string;
  /**
   * Whether the thread is kept only in memory.
   */
  ephemeral: boolean;
  /**
   * Always null.
   */
  section: null;
  /**
   * Always null.
   */
  sectionEnteredAt: null;
  projectId: string | null;
  historyMode: ThreadHistoryMode;
  modelProvider: string;
  model: string | null;
  reasoningEffort: ReasoningEffort | null;
  createdAt: number;
  updatedAt: number;
  /**
   * The time when the thread last started a turn, or was created.
   */
  recencyAt: number | null;
  status: ThreadStatus;
  /**
   * The path for an exported rollout file of the thread. The file need not exist. Null: the thread is ephemeral.
   */
  path: string | null;
  cwd: AbsolutePathBuf;
  /**
   * The version of the protocol with which the thread was started.
   */
  cliVersion: string;
  /**
   * The clientInfo name of the client that started the thread. Null: unknown.
   */
  originator: string | null;
  source: SessionSource;
  threadSource: string | null;
  agentNickname: string | null;
  agentRole: string | null;
  gitInfo: GitInfo | null;
  name: string | null;
  /**
   * The value that a client set. Null: none.
   */
  daybreakEnabled: boolean | null;
  /**
   * The turns, oldest first. Empty if the method does not return the history.
   */
  turns: Turn[];
}
/**
 * A machine on which the thread's commands run, and the folders there.
 */
export interface ThreadEnvironment {
  /**
   * Always `local`: the machine that the server runs on.
   */
  environmentId: string;
  cwd: string;
  runtimeWorkspaceRoots: string[];
}
/**
 * The state of the Git repository in the working directory when the thread was started. `thread/metadata/update` can change it.
 */
export interface GitInfo {
  sha: string | null;
  branch: string | null;
  originUrl: string | null;
}
export interface ThreadDeleteParams {
  threadId: string;
}
export interface ThreadRevertParams {
  threadId: string;
  /**
   * The first turn to remove.
   */
  beforeTurnId: string;
}
export interface ThreadRevertResponse {
  /**
   * The thread, without its turns.
   */
  thread: Thread;
  /**
   * A cursor for listing turns backwards from the last one. Null: no turn is left.
   */
  turnsBackwardsCursor: string | null;
  /**
   * A cursor for listing items backwards from the last one. Null: no item is left.
   */
  itemsBackwardsCursor: string | null;
}
/**
 * Refused while a turn runs.
 */
export interface ThreadRollbackParams {
  threadId: string;
  /**
   * The number of turns to remove, at least 1. If the thread has fewer turns, all of them are removed.
   */
  numTurns: number;
}
export interface ThreadRollbackResponse {
  /**
   * The thread, with its remaining turns.
   */
  thread: Thread;
}
export interface ThreadArchivedNotification {
  threadId: string;
}
export interface ThreadUnarchivedNotification {
  threadId: string;
}
export interface ThreadDeletedNotification {
  threadId: string;
}
export interface ThreadRevertedNotification {
  threadId: string;
}
export interface ThreadSampleParams {
  threadId: string;
  /**
   * The last turn of the thread.
   */
  expectedTurnId: string;
  prompt: string;
  /**
   * The thread's if absent.
   */
  effort?: string | null;
  /**
   * False: refused while the turn runs.
   */
  allowInProgressTurn?: boolean | null;
  /**
   * True: `thread/sample/cancel` interrupts the turn too, if it runs.
   */
  interruptOnCancel?: boolean | null;
  /**
   * Added to the `client_metadata` of a Responses API request.
   */
  responsesapiClientMetadata?: {
    [k: string]: string;
  } | null;
  /**
   * Has no effect: the model gets no tools.
   */
  disableMcp?: boolean | null;
  /**
   * Has no effect: nothing is stored.
   */
  threadSource?: string | null;
  /**
   * Has no effect: no turn begins.
   */
  turnTrigger?: string | null;
}
export interface ThreadSampleResponse {
  /**
   * The id that the provider of a Responses API gave, else one of the server.
   */
  responseId: string;
  /**
   * The `expectedTurnId`.
   */
  sourceTurnId: string;
  text: string | null;
  /**
   * Null: the provider does not say.
   */
  inputTokens: number | null;
  /**
   * Null: the provider does not say.
   */
  cachedInputTokens: number | null;
  /**
   * Null: the provider does not say.
   */
  outputTokens: number | null;
}
/**
 * The sample is then refused with `sample_cancelled`.
 */
export interface ThreadSampleCancelParams {
  requestId: RequestId;
}
export interface CommandExecutionOutputDeltaNotification {
  threadId: string;
  /**
   * The turn of the item. It may have ended.
   */
  turnId: string;
  itemId: string;
  delta: string;
}
export interface TerminalInteractionNotification {
  threadId: string;
  /**
   * The turn of the item. It may have ended.
   */
  turnId: string;
  itemId: string;
  processId: string;
  /**
   * The text that the agent wrote.
   */
  stdin: string;
}
/**
 * A turn of its own has no model request. The model reads the command and its output with its next request.
 */
export interface ThreadShellCommandParams {
  threadId: string;
  /**
   * A command line for the user's shell.
   */
  command: string;
  /**
   * The timeout, in milliseconds; one hour if absent. After it the command is killed.
   */
  timeoutMs?: number | null;
}
export interface ThreadBackgroundTerminalsListParams {
  threadId: string;
  cursor?: string | null;
  limit?: number | null;
}
export interface ThreadBackgroundTerminalsListResponse {
  /**
   * The running commands, the most recently started first.
   */
  data: ThreadBackgroundTerminal[];
  nextCursor: string | null;
}
export interface ThreadBackgroundTerminal {
  /**
   * The id of the command's commandExecution item.
   */
  itemId: string;
  /**
   * The id to use in thread/backgroundTerminals/terminate.
   */
  processId: string;
  command: string;
  cwd: string;
  /**
   * The process id, as the server sees it. Null: unknown.
   */
  osPid: number | null;
  /**
   * Null: not measured.
   */
  cpuPercent: number | null;
  /**
   * Null: not measured.
   */
  rssKb: number | null;
}
export interface ThreadBackgroundTerminalsTerminateParams {
  threadId: string;
  processId: string;
}
export interface ThreadBackgroundTerminalsTerminateResponse {
  /**
   * False if no running command has this id.
   */
  terminated: boolean;
}
export interface ThreadBackgroundTerminalsCleanParams {
  threadId: string;
}
/**
 * The turn has a contextCompaction item. It cannot be steered; input of turn/start is answered in it after the compaction.
 */
export interface ThreadCompactStartParams {
  threadId: string;
}
export interface ContextCompactedNotification {
  threadId: string;
  turnId: string;
}
export interface ThreadReadParams {
  threadId: string;
  /**
   * Whether to include the turns. False if absent.
   */
  includeTurns?: boolean | null;
}
export interface ThreadReadResponse {
  thread: Thread;
}
export interface ThreadListParams {
  cursor?: string | null;
  /**
   * The maximum number of threads on a page, from 1 to 1,000; 25 if absent. A number outside this range is replaced by the nearest one in it.
   */
  limit?: number | null;
  /**
   * The sort key; created_at if absent. A cursor is valid only for the order in which it was made. section_position requires sectionId.
   */
  sortKey?: ThreadSortKey | null;
  /**
   * The order; newest first if absent.
   */
  sortDirection?: SortDirection | null;
  /**
   * True: only archived threads. False: only threads that are not archived. False if absent.
   */
  archived?: boolean | null;
  /**
   * Only threads with this working directory, or with one of these.
   */
  cwd?: ThreadListCwdFilter | null;
  /**
   * Only threads with these model providers. Absent or null: the configured one. Empty: all.
   */
  modelProviders?: string[] | null;
  /**
   * Only threads from these sources. Absent, null or empty: threads from cli and vscode, in which people work.
   */
  sourceKinds?: ThreadSourceKind[] | null;
  /**
   * Only threads that clients with these clientInfo names started. Absent, null or empty: all.
   */
  originators?: string[] | null;
  /**
   * Only threads whose name or preview contains this string. Case is ignored.
   */
  searchTerm?: string | null;
  /**
   * The ids of threads to leave out.
   */
  excludedThreadIds?: string[] | null;
  /**
   * Only threads in this section. No thread is in a section yet.
   */
  sectionId?: string | null;
  /**
   * Has no effect: a home folder belongs to one account.
   */
  currentAccountOnly?: boolean | null;
  /**
   * Has no effect: the server always reads only its store.
   */
  useStateDbOnly?: boolean | null;
  /**
   * Only threads in this project. No thread is in a project yet.
   */
  projectId?: string | null;
  /**
   * Only threads that the agent of this thread started. Forks do not count. Without sourceKinds, their sources do not matter.
   */
  parentThreadId?: string | null;
  /**
   * Like parentThreadId, at any depth. Not allowed with parentThreadId.
   */
  ancestorThreadId?: string | null;
  /**
   * Only threads that are attached to this one. No thread is attached to another yet.
   */
  attachedToThreadId?: string | null;
  /**
   * Also searches attached threads. Requires searchTerm.
   */
  includeAttachedThreads?: boolean | null;
}
export interface ThreadListResponse {
  data: Thread[];
  /**
   * The cursor of the next page. Null: this is the last page.
   */
  nextCursor: string | null;
  /**
   * A cursor for the opposite direction, which starts where this page starts. Null: the page is empty.
   */
  backwardsCursor: string | null;
}
export interface ThreadLoadedListParams {
  cursor?: string | null;
  limit?: number | null;
}
export interface ThreadLoadedListResponse {
  /**
   * The ids of the loaded threads.
   */
  data: string[];
  nextCursor: string | null;
}
export interface ThreadTurnsListParams {
  threadId: string;
  cursor?: string | null;
  limit?: number | null;
  /**
   * The order; newest first if absent.
   */
  sortDirection?: SortDirection | null;
  /**
   * The items to include; summary if absent.
   */
  itemsView?: TurnItemsView | null;
}
export interface TurnsPage {
  data: Turn[];
  nextCursor: string | null;
  backwardsCursor: string | null;
}
export interface ThreadItemsListParams {
  threadId: string;
  /**
   * Only items of this turn.
   */
  turnId?: string | null;
  cursor?: ThreadItemsListCursor | null;
  limit?: number | null;
  /**
   * The order; oldest first if absent.
   */
  sortDirection?: SortDirection | null;
  /**
   * Has no effect: the response always has the whole items.
   */
  deferOutput?: ThreadItemOutputDeferral | null;
}
/**
 * The kinds of items whose output the client wants to fetch later. Has no effect.
 */
export interface ThreadItemOutputDeferral {
  commandExecution?: boolean | null;
  mcpToolCall?: boolean | null;
}
export interface ThreadItemsListResponse {
  data: ThreadItemEntry[];
  nextCursor: string | null;
  backwardsCursor: string | null;
}
export interface ThreadItemEntry {
  turnId: string;
  item: ThreadItem;
  startedAtMs: number | null;
  completedAtMs: number | null;
}
export interface ThreadItemsReadParams {
  threadId: string;
  turnId: string;
  /**
   * The ids of 1 to 100 items.
   */
  itemIds: string[];
}
/**
 * The items, in the order of the turn. Ids that are not in the turn are left out.
 */
export interface ThreadItemsReadResponse {
  data: ThreadItemEntry[];
}
export interface ThreadTurnsItemsListParams {
  threadId: string;
  turnId: string;
  cursor?: string | null;
  limit?: number | null;
  /**
   * The order; oldest first if absent.
   */
  sortDirection?: SortDirection | null;
}
export interface ThreadTurnsItemsListResponse {
  data: ThreadItem[];
  nextCursor: string | null;
  backwardsCursor: string | null;
}
export interface GetConversationSummaryParams {
  /**
   * The thread's `path`, or a rollout file, absolute or in the home folder.
   */
  rolloutPath?: string | null;
  /**
   * The thread's id.
   */
  conversationId?: string | null;
}
export interface GetConversationSummaryResponse {
  summary: ConversationSummary;
}
/**
 * A thread, in the form of older clients.
 */
export interface ConversationSummary {
  conversationId: string;
  path: string;
  preview: string;
  /**
   * When the thread was created, in ISO 8601.
   */
  timestamp: string | null;
  /**
   * In ISO 8601.
   */
  updatedAt: string | null;
  modelProvider: string;
  cwd: string;
  cliVersion: string;
  source: SessionSource;
  gitInfo: ConversationGitInfo | null;
}
export interface ConversationGitInfo {
  sha: string | null;
  branch: string | null;
  origin_url: string | null;
}
export interface ThreadStartParams {
  model?: string | null;
  modelProvider?: string | null;
  /**
   * Has no effect: the server never replaces the requested model.
   */
  allowProviderModelFallback?: boolean | null;
  serviceTier?: string | null;
  cwd?: string | null;
  runtimeWorkspaceRoots?: AbsolutePathBuf[] | null;
  approvalPolicy?: AskForApproval | null;
  approvalsReviewer?: ApprovalsReviewer | null;
  sandbox?: SandboxMode | null;
  /**
   * The id of a permission profile.
   */
  permissions?: string | null;
  /**
   * Overrides of the configuration. The keys are those of config.toml; dots separate nested keys.
   */
  config?: {
    [k: string]: unknown;
  } | null;
  /**
   * Has no effect: the server collects no usage data.
   */
  serviceName?: string | null;
  /**
   * Replaces the model's built-in instructions.
   */
  baseInstructions?: string | null;
  /**
   * Additional instructions in the prompt.
   */
  developerInstructions?: string | null;
  personality?: Personality | null;
  /**
   * When the model may start agents. Default: explicitRequestOnly.
   */
  multiAgentMode?: MultiAgentMode | null;
  /**
   * Keeps the thread only in memory. False if absent.
   */
  ephemeral?: boolean | null;
  /**
   * Has no effect: every history can be read whole and in pages.
   */
  historyMode?: ThreadHistoryMode | null;
  /**
   * The `source` that hooks of the event SessionStart get. `startup` if absent.
   */
  sessionStartSource?: ThreadStartSource | null;
  /**
   * The purpose of the thread, as the client describes it.
   */
  threadSource?: string | null;
  /**
   * There are no projects yet: must be absent or empty.
   */
  projectId?: string | null;
  /**
   * At most one: `local`, the machine that the server runs on. Its folders count like `cwd` and `runtimeWorkspaceRoots`. Empty: the model gets no instructions and skills of the project, only those of the home, until a turn names `local`.
   */
  environments?: TurnEnvironmentParams[] | null;
  /**
   * Tools that the client provides. The server asks this client to run them, with `item/tool/call`. Forks of the thread have them too.
   */
  dynamicTools?: DynamicToolSpec[] | null;
  /**
   * Not supported yet: must be absent or empty.
   */
  selectedCapabilityRoots?: SelectedCapabilityRoot[] | null;
  daybreakEnabled?: boolean | null;
  /**
   * Has no effect: it is for tests of the experimental API.
   */
  mockExperimentalField?: string | null;
  /**
   * Sends this client `rawResponseItem/completed` and `rawResponse/completed` for the thread, as long as it follows it.
   */
  experimentalRawEvents?: boolean | null;
  /**
   * Has no effect: the server always keeps the whole history.
   */
  persistExtendedHistory?: boolean | null;
}
export interface SelectedCapabilityRoot {
  id: string;
  location: CapabilityRootLocation;
}
/**
 * The new thread and its settings.
 */
export interface ThreadStartResponse {
  thread: Thread;
  model: string;
  modelProvider: string;
  serviceTier: string | null;
  disabledPluginIds: string[];
  cwd: AbsolutePathBuf;
  /**
   * The paths of the instruction files that the model reads.
   */
  instructionSources: AbsolutePathBuf[];
  approvalPolicy: AskForApproval;
  approvalsReviewer: ApprovalsReviewer;
  sandbox: SandboxPolicy;
  /**
   * The permission profile that the sandbox policy comes from. Null: none.
   */
  activePermissionProfile: ActivePermissionProfile | null;
  /**
   * The folders of the workspace: the working directory, unless the thread has others.
   */
  runtimeWorkspaceRoots: AbsolutePathBuf[];
  reasoningEffort: ReasoningEffort | null;
  /**
   * When the model may start agents.
   */
  multiAgentMode: MultiAgentMode;
}
/**
 * Absent settings stay as they were in the last turn.
 */
export interface ThreadResumeParams {
  threadId: string;
  /**
   * Starts a new thread with this history. Not empty.
   */
  history?: ResponseItem[] | null;
  /**
   * The path of a rollout file. The empty string counts as absent.
   */
  path?: string | null;
  model?: string | null;
  modelProvider?: string | null;
  serviceTier?: string | null;
  cwd?: string | null;
  runtimeWorkspaceRoots?: AbsolutePathBuf[] | null;
  approvalPolicy?: AskForApproval | null;
  approvalsReviewer?: ApprovalsReviewer | null;
  sandbox?: SandboxMode | null;
  permissions?: string | null;
  config?: {
    [k: string]: unknown;
  } | null;
  baseInstructions?: string | null;
  developerInstructions?: string | null;
  personality?: Personality | null;
  /**
   * Leaves the thread's turns out of the response. False if absent.
   */
  excludeTurns?: boolean | null;
  /**
   * Requests a page of turns in the same response.
   */
  initialTurnsPage?: ThreadResumeInitialTurnsPageParams | null;
  /**
   * Has no effect: the server always keeps the whole history.
   */
  persistExtendedHistory?: boolean | null;
}
export interface ThreadResumeInitialTurnsPageParams {
  limit?: number | null;
  sortDirection?: SortDirection | null;
  itemsView?: TurnItemsView | null;
}
export interface ThreadResumeResponse {
  thread: Thread;
  model: string;
  modelProvider: string;
  serviceTier: string | null;
  disabledPluginIds: string[];
  cwd: AbsolutePathBuf;
  instructionSources: AbsolutePathBuf[];
  approvalPolicy: AskForApproval;
  approvalsReviewer: ApprovalsReviewer;
  sandbox: SandboxPolicy;
  /**
   * The permission profile that the sandbox policy comes from. Null: none.
   */
  activePermissionProfile: ActivePermissionProfile | null;
  /**
   * The folders of the workspace: the working directory, unless the thread has others.
   */
  runtimeWorkspaceRoots: AbsolutePathBuf[];
  reasoningEffort: ReasoningEffort | null;
  /**
   * When the model may start agents.
   */
  multiAgentMode: MultiAgentMode;
  collaborationMode: CollaborationMode | null;
  /**
   * The requested page of turns. Null: none was requested.
   */
  initialTurnsPage: TurnsPage | null;
  /**
   * A cursor with which thread/turns/list starts at the newest turn. Null: there is none.
   */
  turnsBackwardsCursor: string | null;
  /**
   * A cursor with which thread/items/list starts at the newest item. Null: there is none.
   */
  itemsBackwardsCursor: string | null;
}
export interface ThreadForkParams {
  threadId: string;
  /**
   * The path of a rollout file, which takes precedence over threadId. The empty string counts as absent.
   */
  path?: string | null;
  /**
   * The last turn of the fork. Not allowed with beforeTurnId.
   */
  lastTurnId?: string | null;
  /**
   * The fork ends before this turn. Not allowed with lastTurnId.
   */
  beforeTurnId?: string | null;
  model?: string | null;
  modelProvider?: string | null;
  serviceTier?: string | null;
  cwd?: string | null;
  runtimeWorkspaceRoots?: AbsolutePathBuf[] | null;
  approvalPolicy?: AskForApproval | null;
  approvalsReviewer?: ApprovalsReviewer | null;
  sandbox?: SandboxMode | null;
  permissions?: string | null;
  config?: {
    [k: string]: unknown;
  } | null;
  baseInstructions?: string | null;
  developerInstructions?: string | null;
  /**
   * Keeps the fork only in memory. False if absent.
   */
  ephemeral?: boolean | null;
  threadSource?: string | null;
  /**
   * Leaves the thread's turns out of the response. False if absent.
   */
  excludeTurns?: boolean | null;
  /**
   * Not supported yet: must be absent or false.
   */
  attachToSource?: boolean | null;
  /**
   * Has no effect: a fork has no goal.
   */
  deferGoalContinuation?: boolean | null;
  /**
   * Not supported yet: must be absent or false.
   */
  experimentalPredictionMode?: boolean | null;
  /**
   * Has no effect: there is no prediction mode.
   */
  experimentalDisablePredictionMcp?: boolean | null;
  /**
   * Has no effect: the server always keeps the whole history.
   */
  persistExtendedHistory?: boolean | null;
}
export interface ThreadInjectItemsParams {
  threadId: string;
  /**
   * 1 to 1,000 ResponseItems. Items of unknown types are ignored.
   */
  items: unknown[];
}
/**
 * Absent and null fields stay as they are.
 */
export interface ThreadMetadataUpdateParams {
  threadId: string;
  gitInfo?: ThreadMetadataGitInfoUpdateParams | null;
  /**
   * The empty string removes the thread from its project. Other ids are refused: there are no projects yet.
   */
  projectId?: string | null;
  daybreakEnabled?: boolean | null;
}
/**
 * Changes a thread's Git information. Absent fields stay as they are, null removes a value. At least one field is required.
 */
export interface ThreadMetadataGitInfoUpdateParams {
  sha?: string | null;
  branch?: string | null;
  originUrl?: string | null;
}
export interface ThreadMetadataUpdateResponse {
  thread: Thread;
}
export interface ThreadMemoryModeSetParams {
  threadId: string;
  mode: ThreadMemoryMode;
}
/**
 * Absent settings stay as they are.
 */
export interface ThreadSettingsUpdateParams {
  threadId: string;
  cwd?: string | null;
  approvalPolicy?: AskForApproval | null;
  approvalsReviewer?: ApprovalsReviewer | null;
  sandboxPolicy?: SandboxPolicy | null;
  runtimeWorkspaceRoots?: AbsolutePathBuf[] | null;
  /**
   * The id of a permission profile, from `permissionProfile/list`.
   */
  permissions?: string | null;
  model?: string | null;
  effort?: ReasoningEffort | null;
  summary?: ReasoningSummary | null;
  serviceTier?: string | null;
  personality?: Personality | null;
  collaborationMode?: CollaborationMode | null;
  /**
   * When the model may start agents.
   */
  multiAgentMode?: MultiAgentMode | null;
  /**
   * Empty: as at `turn/start`. Others are not supported yet.
   */
  environments?: TurnEnvironmentParams[] | null;
  /**
   * Has no effect: the server has no plugins.
   */
  disabledPluginIds?: string[] | null;
}
export interface ThreadSettingsUpdatedNotification {
  threadId: string;
  threadSettings: ThreadSettings;
}
/**
 * The settings of the thread's next turn.
 */
export interface ThreadSettings {
  cwd: AbsolutePathBuf;
  approvalPolicy: AskForApproval;
  approvalsReviewer: ApprovalsReviewer;
  sandboxPolicy: SandboxPolicy;
  /**
   * The permission profile that the sandbox policy comes from. Null: none.
   */
  activePermissionProfile: ActivePermissionProfile | null;
  model: string;
  modelProvider: string;
  serviceTier: string | null;
  effort: ReasoningEffort | null;
  summary: ReasoningSummary | null;
  personality: Personality | null;
  collaborationMode: CollaborationMode;
  multiAgentMode: MultiAgentMode;
  /**
   * Always empty.
   */
  disabledPluginIds: string[];
  /**
   * Empty: the thread has no environment. Null: it has the one that there is.
   */
  environments: TurnEnvironmentParams[] | null;
}
export interface ThreadTokenUsage {
  /**
   * The tokens of all model requests of the thread.
   */
  total: TokenUsageBreakdown;
  /**
   * `total`, and the totals of all agents that work for the thread, at any depth. Absent if the thread has started no agents.
   */
  withAgents?: TokenUsageBreakdown;
  /**
   * The tokens of the last model request.
   */
  last: TokenUsageBreakdown;
  /**
   * The size of the model's context window, in tokens. Null: unknown.
   */
  modelContextWindow: number | null;
}
export interface ThreadSetNameParams {
  threadId: string;
  /**
   * At most 1,000 characters, without surrounding whitespace, which is removed.
   */
  name: string;
}
export interface ThreadUnsubscribeParams {
  threadId: string;
}
export interface ThreadUnsubscribeResponse {
  status: ThreadUnsubscribeStatus;
}
export interface ThreadStartedNotification {
  thread: Thread;
}
export interface ThreadStatusChangedNotification {
  threadId: string;
  status: ThreadStatus;
}
export interface ThreadClosedNotification {
  threadId: string;
}
export interface ThreadNameUpdatedNotification {
  threadId: string;
  threadName: string | null;
}
export interface ThreadTokenUsageUpdatedNotification {
  threadId: string;
  turnId: string;
  tokenUsage: ThreadTokenUsage;
}
export interface DynamicToolCallParams {
  threadId: string;
  turnId: string;
  /**
   * The id of the dynamicToolCall item.
   */
  callId: string;
  /**
   * The namespace of the tool. Null: it has none.
   */
  namespace: string | null;
  tool: string;
  /**
   * The arguments as the model wrote them. Not checked against the tool's inputSchema.
   */
  arguments: unknown;
}
export interface DynamicToolCallResponse {
  /**
   * The result for the model, also if the call failed.
   */
  contentItems: DynamicToolCallOutputContentItem[];
  success: boolean;
}
export interface ToolRequestUserInputParams {
  threadId: string;
  agent?: AskingAgent;
  turnId: string;
  itemId: string;
  questions: ToolRequestUserInputQuestion[];
  /**
   * Whether the turn waits for the answer.
   */
  isBlocking: boolean;
  /**
   * The timeout for the answer, in milliseconds. After it the agent continues without an answer. Null: no timeout.
   */
  autoResolutionMs: number | null;
}
export interface ToolRequestUserInputQuestion {
  id: string;
  header: string;
  question: string;
  /**
   * Whether the user can give an answer that is not among the options.
   */
  isOther: boolean;
  /**
   * Whether the client must hide the answer while the user types it.
   */
  isSecret: boolean;
  options: ToolRequestUserInputOption[] | null;
}
export interface ToolRequestUserInputOption {
  label: string;
  description: string;
}
export interface ToolRequestUserInputResponse {
  /**
   * The answers, by the id of the question.
   */
  answers: {
    [k: string]: ToolRequestUserInputAnswer;
  };
}
export interface ToolRequestUserInputAnswer {
  answers: string[];
}
/**
 * Settings apply to this turn and to later turns. outputSchema and serviceTierForTurn apply only to this turn.
 */
export interface TurnStartParams {
  threadId: string;
  /**
   * An id for the message. The userMessage item has it as clientId.
   */
  clientUserMessageId?: string | null;
  input: UserInput[];
  cwd?: string | null;
  approvalPolicy?: AskForApproval | null;
  approvalsReviewer?: ApprovalsReviewer | null;
  sandboxPolicy?: SandboxPolicy | null;
  model?: string | null;
  serviceTier?: string | null;
  serviceTierForTurn?: string | null;
  effort?: ReasoningEffort | null;
  summary?: ReasoningSummary | null;
  personality?: Personality | null;
  /**
   * A JSON Schema for the turn's final message.
   */
  outputSchema?: unknown;
  collaborationMode?: CollaborationMode | null;
  /**
   * When the model may start agents, from this turn on.
   */
  multiAgentMode?: MultiAgentMode | null;
  permissions?: string | null;
  runtimeWorkspaceRoots?: AbsolutePathBuf[] | null;
  /**
   * At most one: `local`, the machine that the server runs on. Its folders count like `cwd` and `runtimeWorkspaceRoots`. Empty: the model gets no instructions and skills of the project, only those of the home, until a turn names `local`.
   */
  environments?: TurnEnvironmentParams[] | null;
  /**
   * Additional text for the model, by name; at most 100 entries. The model is told an entry when it is new or has changed since the request before.
   */
  additionalContext?: {
    [k: string]: AdditionalContextEntry;
  } | null;
  /**
   * Facts about the turn's requests, for the provider. After a steer, the new ones count.
   */
  responsesapiClientMetadata?: {
    [k: string]: string;
  } | null;
  /**
   * Has no effect: the server sends no metadata of clients to providers.
   */
  responsesapiClientMetadataPatch?: {
    [k: string]: string;
  } | null;
  /**
   * Has no effect: the server takes part in no access programs.
   */
  cyberAccessProgram?: CyberAccessProgram | null;
  /**
   * The turn answers this instead of input of the user: `input` must be empty.
   */
  toolOutput?: TurnToolOutput | null;
  /**
   * Has no effect: the server collects no usage data.
   */
  parentTurnId?: string | null;
  /**
   * The turn's rootTurnId, at most 256 characters. A running turn that takes the input keeps its own.
   */
  rootTurnId?: string | null;
  /**
   * Has no effect: the server collects no usage data.
   */
  turnTrigger?: string | null;
  /**
   * Has no effect: the server has no plugins.
   */
  disabledPluginIds?: string[] | null;
}
export interface AdditionalContextEntry {
  value: string;
  /**
   * `application`: sent to the model as a developer message, so it can contain instructions. `untrusted`: sent as a user message.
   */
  kind: 'untrusted' | 'application';
  name?: string | null;
}
/**
 * An output of a tool that the model did not call. The model reads it as if it had called the tool without arguments. Clients see it as a dynamicToolCall item, which older clients know too.
 */
export interface TurnToolOutput {
  /**
   * The name of the tool. The thread need not have such a tool.
   */
  name: string;
  namespace?: string | null;
  /**
   * At most 1,048,576 characters as JSON.
   */
  output: FunctionCallOutputBody;
  /**
   * Has no effect: an output stays in the prompt until the thread is compacted, like every other.
   */
  retain?: boolean | null;
}
/**
 * The turn that received the input: a new turn, or the running one.
 */
export interface TurnStartResponse {
  turn: Turn;
}
export interface TurnSteerParams {
  threadId: string;
  /**
   * The id of the running turn. The request is refused if another turn runs.
   */
  expectedTurnId: string;
  clientUserMessageId?: string | null;
  input: UserInput[];
  additionalContext?: {
    [k: string]: AdditionalContextEntry;
  } | null;
  /**
   * Facts about the turn's requests, for the provider. After a steer, the new ones count.
   */
  responsesapiClientMetadata?: {
    [k: string]: string;
  } | null;
  /**
   * Has no effect: the server sends no metadata of clients to providers.
   */
  responsesapiClientMetadataPatch?: {
    [k: string]: string;
  } | null;
}
export interface TurnSteerResponse {
  turnId: string;
}
export interface TurnInterruptParams {
  threadId: string;
  turnId: string;
}
export interface TurnSettingsUpdateParams {
  threadId: string;
  turnId: string;
  model?: string | null;
  effort?: ReasoningEffort | null;
  summary?: ReasoningSummary | null;
  serviceTier?: string | null;
  approvalsReviewer?: ApprovalsReviewer | null;
  /**
   * Not supported yet: must be absent or empty.
   */
  environments?: TurnEnvironmentParams[] | null;
}
export interface TurnSettingsUpdateResponse {
  status: TurnSettingsUpdateStatus;
}
export interface TurnStartedNotification {
  threadId: string;
  turn: Turn;
}
export interface TurnCompletedNotification {
  threadId: string;
  turn: Turn;
}
export interface TurnDiffUpdatedNotification {
  threadId: string;
  turnId: string;
  /**
   * A unified diff in Git format. Empty if the changes cancel each other out.
   */
  diff: string;
}
export interface TurnModerationMetadataNotification {
  threadId: string;
  turnId: string;
  /**
   * As the provider has sent it.
   */
  metadata: unknown;
}
export interface TurnPlanUpdatedNotification {
  threadId: string;
  turnId: string;
  explanation: string | null;
  plan: TurnPlanStep[];
}
export interface TurnPlanStep {
  step: string;
  status: TurnPlanStepStatus;
}
export interface ErrorNotification {
  error: TurnError;
  willRetry: boolean;
  threadId: string;
  turnId: string;
}

/** The requests that the server serves. */
export interface ClientRequests {
  /** Cancels an open login. There is never one, because heddle stores API keys at once. */
  'account/login/cancel': { params: CancelLoginAccountParams; result: CancelLoginAccountResponse };
  /** Stores an API key in auth.json of the home, for providers with `requires_openai_auth`. */
  'account/login/start': { params: LoginAccountParams; result: LoginAccountResponse };
  /** Removes the stored API key. */
  'account/logout': { params: undefined; result: LogoutAccountResponse };
  /** Returns the rate limits of the provider's last response. */
  'account/rateLimits/read': { params: undefined; result: GetAccountRateLimitsResponse };
  /** Returns the account of the provider: an API key, or none. */
  'account/read': { params: GetAccountParams; result: GetAccountResponse };
  /** Lists the accounts of a vendor. The list is always empty, because heddle has none. */
  'accountSession/list': { params: AccountSessionsListParams; result: AccountSessionsResponse };
  /** Lists the installed apps. The list is always empty, because heddle has no apps. */
  'app/installed': { params: AppsInstalledParams; result: AppsInstalledResponse };
  /** Lists apps. The list is always empty, because heddle has none. */
  'app/list': { params: AppsListParams; result: AppsListResponse };
  /** Lists the modes that a thread can be in. */
  'collaborationMode/list': { params: undefined; result: CollaborationModeListResponse };
  /** Runs a program outside of threads, in a sandbox. The response is sent when it has ended. */
  'command/exec': { params: CommandExecParams; result: CommandExecResponse };
  /** Changes the size of the terminal of a running command. */
  'command/exec/resize': { params: CommandExecResizeParams; result: CommandExecResizeResponse };
  /** Kills a command and everything that it started. The response to its `command/exec` follows. */
  'command/exec/terminate': { params: CommandExecTerminateParams; result: CommandExecTerminateResponse };
  /** Writes to the stdin of a command that has `streamStdin` or `tty`, or closes it, or both. */
  'command/exec/write': { params: CommandExecWriteParams; result: CommandExecWriteResponse };
  /** Makes several changes to config.toml together, or none of them. */
  'config/batchWrite': { params: ConfigBatchWriteParams; result: ConfigWriteResponse };
  /** Reads the configuration of the MCP servers again, for the threads that are loaded. */
  'config/mcpServer/reload': { params: undefined; result: McpServerRefreshResponse };
  /** Returns the resulting settings, and the source of each. */
  'config/read': { params: ConfigReadParams; result: ConfigReadResponse };
  /** Changes one setting in config.toml. */
  'config/value/write': { params: ConfigValueWriteParams; result: ConfigWriteResponse };
  /** Returns what the administrator's `requirements.toml` allows. */
  'configRequirements/read': { params: undefined; result: ConfigRequirementsReadResponse };
  /** Returns whether an environment is ready. Only `local` is. */
  'environment/status': { params: EnvironmentStatusParams; result: EnvironmentStatusResponse };
  /** Switches features on or off, until the server ends. */
  'experimentalFeature/enablement/set': { params: ExperimentalFeatureEnablementSetParams; result: ExperimentalFeatureEnablementSetResponse };
  /** Lists the features that can be switched, and whether they are on. */
  'experimentalFeature/list': { params: ExperimentalFeatureListParams; result: ExperimentalFeatureListResponse };
  /** Lists what can be imported from Claude Code. It only reads. */
  'externalAgentConfig/detect': { params: ExternalAgentConfigDetectParams; result: ExternalAgentConfigDetectResponse };
  /** Imports settings, files and sessions from Claude Code. */
  'externalAgentConfig/import': { params: ExternalAgentConfigImportParams; result: ExternalAgentConfigImportResponse };
  /** Returns the imports since the server started. */
  'externalAgentConfig/import/readHistories': { params: undefined; result: ExternalAgentConfigImportHistoriesReadResponse };
  /** Writes a report to a file, as JSON without secrets. */
  'feedback/save': { params: FeedbackSaveParams; result: FeedbackSaveResponse };
  /** Is always refused, because this server sends nothing to anybody. Use `feedback/save`. */
  'feedback/upload': { params: FeedbackUploadParams; result: FeedbackUploadResponse };
  /** Copies a file, a folder or a symbolic link. */
  'fs/copy': { params: FsCopyParams; result: FsCopyResponse };
  /** Creates a folder. */
  'fs/createDirectory': { params: FsCreateDirectoryParams; result: FsCreateDirectoryResponse };
  /** Returns whether a path is a file, a folder or a link, and its times. */
  'fs/getMetadata': { params: FsGetMetadataParams; result: FsGetMetadataResponse };
  /** Lists the entries of a folder. */
  'fs/readDirectory': { params: FsReadDirectoryParams; result: FsReadDirectoryResponse };
  /** Reads a regular file, as base64. It follows symbolic links. */
  'fs/readFile': { params: FsReadFileParams; result: FsReadFileResponse };
  /** Removes a file, a folder or a symbolic link, but not the target of a link. */
  'fs/remove': { params: FsRemoveParams; result: FsRemoveResponse };
  /** Ends a watch. It succeeds even if there is no such watch. */
  'fs/unwatch': { params: FsUnwatchParams; result: FsUnwatchResponse };
  /** Watches a file, or a folder and its direct entries. */
  'fs/watch': { params: FsWatchParams; result: FsWatchResponse };
  /** Creates a file, or replaces its content atomically. It follows symbolic links and keeps the mode of the file. */
  'fs/writeFile': { params: FsWriteFileParams; result: FsWriteFileResponse };
  /** Searches once for files and folders by a few letters of their paths. */
  'fuzzyFileSearch': { params: FuzzyFileSearchParams; result: FuzzyFileSearchResponse };
  /** Begins a search session, which lists the files once. */
  'fuzzyFileSearch/sessionStart': { params: FuzzyFileSearchSessionStartParams; result: FuzzyFileSearchSessionStartResponse };
  /** Ends a search session. */
  'fuzzyFileSearch/sessionStop': { params: FuzzyFileSearchSessionStopParams; result: FuzzyFileSearchSessionStopResponse };
  /** Searches for this query in place of the last one. */
  'fuzzyFileSearch/sessionUpdate': { params: FuzzyFileSearchSessionUpdateParams; result: FuzzyFileSearchSessionUpdateResponse };
  /** Returns how the provider is authorized. It is an older form of `account/read`. */
  'getAuthStatus': { params: GetAuthStatusParams; result: GetAuthStatusResponse };
  /** Returns a summary of a thread, by its path or by its id, without loading it. If both are given, the path wins. */
  'getConversationSummary': { params: GetConversationSummaryParams; result: GetConversationSummaryResponse };
  /** Compares a working tree, with its untracked files, with the nearest commit that a remote is known to have. */
  'gitDiffToRemote': { params: GitDiffToRemoteParams; result: GitDiffToRemoteResponse };
  /** Lists the hooks of folders, or of a thread, and whether the user trusts them. */
  'hooks/list': { params: HooksListParams; result: HooksListResponse };
  /** Performs the handshake: the client and the server introduce themselves. */
  'initialize': { params: InitializeParams; result: InitializeResponse };
  /** Begins a login to an MCP server that is reached by HTTP. The user logs in at `authorizationUrl`. */
  'mcpServer/oauth/login': { params: McpServerOauthLoginParams; result: McpServerOauthLoginResponse };
  /** Removes the stored login to an MCP server. */
  'mcpServer/oauth/logout': { params: McpServerOauthLogoutParams; result: McpServerOauthLogoutResponse };
  /** Reads a resource of an MCP server. */
  'mcpServer/resource/read': { params: McpResourceReadParams; result: McpResourceReadResponse };
  /** Calls a tool of an MCP server for the client. It is no part of a turn, and needs no approval. */
  'mcpServer/tool/call': { params: McpServerToolCallParams; result: McpServerToolCallResponse };
  /** Lists the configured MCP servers, with their tools. heddle starts a server that does not run, and ends it again after a moment. */
  'mcpServerStatus/list': { params: ListMcpServerStatusParams; result: ListMcpServerStatusResponse };
  /** Returns the progress of making memories. heddle does not make memories. */
  'memory/status': { params: MemoryStatusParams; result: MemoryStatusResponse };
  /** Lists the models that the client can offer to its user. */
  'model/list': { params: ModelListParams; result: ModelListResponse };
  /** Returns the tools that the provider of a new thread runs itself. */
  'modelProvider/capabilities/read': { params: ModelProviderCapabilitiesReadParams; result: ModelProviderCapabilitiesReadResponse };
  /** Creates or changes a model provider in config.toml. */
  'modelProvider/config/write': { params: ModelProviderConfigWriteParams; result: ModelProviderConfigWriteResponse };
  /** Lists the model providers, with the one of new threads. */
  'modelProvider/list': { params: ModelProviderListParams; result: ModelProviderListResponse };
  /** Lists the permission profiles, and whether the server can enforce them. */
  'permissionProfile/list': { params: PermissionProfileListParams; result: PermissionProfileListResponse };
  /** Lists the installed plugins. The list is always empty, because heddle has no plugins. */
  'plugin/installed': { params: PluginInstalledParams; result: PluginInstalledResponse };
  /** Lists plugins. The list is always empty, because heddle has none. */
  'plugin/list': { params: PluginListParams; result: PluginListResponse };
  /** Searches for plugins. It finds nothing, because heddle has none. */
  'plugin/search': { params: PluginSearchParams; result: PluginSearchResponse };
  /** Lists the plugins that the user shares. The list is always empty, because heddle has no plugins. */
  'plugin/share/list': { params: PluginShareListParams; result: PluginShareListResponse };
  /** Kills a process and everything that it started. */
  'process/kill': { params: ProcessKillParams; result: ProcessKillResponse };
  /** Changes the size of the terminal of a running process. */
  'process/resizePty': { params: ProcessResizePtyParams; result: ProcessResizePtyResponse };
  /** Starts a program outside of threads and without a sandbox. The response is sent as soon as it runs. */
  'process/spawn': { params: ProcessSpawnParams; result: ProcessSpawnResponse };
  /** Writes to the stdin of a process that has `streamStdin` or `tty`, or closes it, or both. */
  'process/writeStdin': { params: ProcessWriteStdinParams; result: ProcessWriteStdinResponse };
  /** Lists the clients that control the server from elsewhere. The list is always empty, because heddle has no remote control. */
  'remoteControl/client/list': { params: RemoteControlClientsListParams; result: RemoteControlClientsListResponse };
  /** Returns the state of remote control, which is always `disabled`. */
  'remoteControl/status/read': { params: undefined; result: RemoteControlStatusReadResponse };
  /** Starts a review of changes to code. A turn that runs in the thread is interrupted. */
  'review/start': { params: ReviewStartParams; result: ReviewStartResponse };
  /** Ends a connection, after the messages that wait for it. Its client can connect again. */
  'server/connection/close': { params: ServerConnectionCloseParams; result: ServerConnectionCloseResponse };
  /** Returns the server's use of resources, its load and its connections. */
  'server/diagnostics': { params: ServerDiagnosticsParams; result: ServerDiagnosticsResponse };
  /** Switches a skill on or off, in `[[skills.config]]` of config.toml. */
  'skills/config/write': { params: SkillsConfigWriteParams; result: SkillsConfigWriteResponse };
  /** Replaces the further folders in which the server looks for skills, until the server ends. */
  'skills/extraRoots/set': { params: SkillsExtraRootsSetParams; result: SkillsExtraRootsSetResponse };
  /** Lists the skills of folders, and the files that cannot be used. */
  'skills/list': { params: SkillsListParams; result: SkillsListResponse };
  /** Overrules a denial of the guardian: the next attempt at exactly this action passes. */
  'thread/approveGuardianDeniedAction': { params: ThreadApproveGuardianDeniedActionParams; result: ThreadApproveGuardianDeniedActionResponse };
  /** Ends the running turn, unloads the thread and archives it, with the threads of its sub-agents. */
  'thread/archive': { params: ThreadArchiveParams; result: ThreadArchiveResponse };
  /** Kills all of the thread's commands in the background. */
  'thread/backgroundTerminals/clean': { params: ThreadBackgroundTerminalsCleanParams; result: ThreadBackgroundTerminalsCleanResponse };
  /** Lists the thread's running commands whose tool call has already returned. */
  'thread/backgroundTerminals/list': { params: ThreadBackgroundTerminalsListParams; result: ThreadBackgroundTerminalsListResponse };
  /** Kills one command in the background, and everything that it started. */
  'thread/backgroundTerminals/terminate': { params: ThreadBackgroundTerminalsTerminateParams; result: ThreadBackgroundTerminalsTerminateResponse };
  /** Compacts a thread in a turn of its own, which begins at once, or after the running turn. */
  'thread/compact/start': { params: ThreadCompactStartParams; result: ThreadCompactStartResponse };
  /** Subtracts one from the number of questions that clients ask their users by themselves. If this client has none, the number of another client decreases. */
  'thread/decrement_elicitation': { params: ThreadDecrementElicitationParams; result: ThreadDecrementElicitationResponse };
  /** Ends the running turn and deletes the thread permanently. Its forks keep their history. */
  'thread/delete': { params: ThreadDeleteParams; result: ThreadDeleteResponse };
  /** Creates a thread with the history of another one, complete or up to a turn, and loads it. */
  'thread/fork': { params: ThreadForkParams; result: ThreadForkResponse };
  /** Removes the goal of a thread. */
  'thread/goal/clear': { params: ThreadGoalClearParams; result: ThreadGoalClearResponse };
  /** Returns the goal of a thread. */
  'thread/goal/get': { params: ThreadGoalGetParams; result: ThreadGoalGetResponse };
  /** Creates a goal, which requires an objective, or changes the existing one. */
  'thread/goal/set': { params: ThreadGoalSetParams; result: ThreadGoalSetResponse };
  /** Returns the last review of the thread that has ended. */
  'thread/guardianReview': { params: ThreadGuardianReviewParams; result: ThreadGuardianReviewResponse };
  /** Adds one to the number of questions that a client asks its user by itself. While the number is not 0, the time limits of questions stop. */
  'thread/increment_elicitation': { params: ThreadIncrementElicitationParams; result: ThreadIncrementElicitationResponse };
  /** Adds items to the end of the model's history. Clients do not see them. */
  'thread/inject_items': { params: ThreadInjectItemsParams; result: ThreadInjectItemsResponse };
  /** Returns the items of a thread, or of one turn, in pages. The oldest come first. */
  'thread/items/list': { params: ThreadItemsListParams; result: ThreadItemsListResponse };
  /** Returns items of a turn by their ids. */
  'thread/items/read': { params: ThreadItemsReadParams; result: ThreadItemsReadResponse };
  /** Lists stored threads, in pages. The newest come first. */
  'thread/list': { params: ThreadListParams; result: ThreadListResponse };
  /** Lists the ids of the threads that this server has loaded. */
  'thread/loaded/list': { params: ThreadLoadedListParams; result: ThreadLoadedListResponse };
  /** Sets whether a thread may be used for memories. */
  'thread/memoryMode/set': { params: ThreadMemoryModeSetParams; result: ThreadMemoryModeSetResponse };
  /** Changes a thread's metadata. At least one field is required. */
  'thread/metadata/update': { params: ThreadMetadataUpdateParams; result: ThreadMetadataUpdateResponse };
  /** Gives a thread a name. */
  'thread/name/set': { params: ThreadSetNameParams; result: ThreadSetNameResponse };
  /** Gives the thread's model a plan that the user has approved. */
  'thread/prepareApprovedPlan': { params: ThreadPrepareApprovedPlanParams; result: ThreadPrepareApprovedPlanResponse };
  /** Adds input to the end of a thread's queue. An idle thread whose queue is not held starts a turn with it at once. The same `clientUserMessageId` again adds nothing. */
  'thread/queue/add': { params: ThreadQueueAddParams; result: ThreadQueueAddResponse };
  /** Removes an entry from a thread's queue. */
  'thread/queue/delete': { params: ThreadQueueDeleteParams; result: ThreadQueueDeleteResponse };
  /** Lists the queue of a thread, loaded or not: the next entry first. */
  'thread/queue/list': { params: ThreadQueueListParams; result: ThreadQueueListResponse };
  /** Brings a thread's queue into another order. */
  'thread/queue/reorder': { params: ThreadQueueReorderParams; result: ThreadQueueReorderResponse };
  /** Starts a turn with an entry of the queue of an idle thread, and lets a queue that is held go on. */
  'thread/queue/start': { params: ThreadQueueStartParams; result: ThreadQueueStartResponse };
  /** Replaces the input of an entry in a thread's queue. */
  'thread/queue/update': { params: ThreadQueueUpdateParams; result: ThreadQueueUpdateResponse };
  /** Reads a thread without loading it. */
  'thread/read': { params: ThreadReadParams; result: ThreadReadResponse };
  /** Lists voices. The list is always empty, because heddle has none. */
  'thread/realtime/listVoices': { params: ThreadRealtimeListVoicesParams; result: ThreadRealtimeListVoicesResponse };
  /** Loads a thread, given by `history`, else by `path`, else by `threadId`, and makes the client follow it. */
  'thread/resume': { params: ThreadResumeParams; result: ThreadResumeResponse };
  /** Ends the running turn, and removes a turn and everything after it. */
  'thread/revert': { params: ThreadRevertParams; result: ThreadRevertResponse };
  /** Removes the last turns. */
  'thread/rollback': { params: ThreadRollbackParams; result: ThreadRollbackResponse };
  /** Sends the history of a thread and one more question to the model, without tools. The thread does not change. */
  'thread/sample': { params: ThreadSampleParams; result: ThreadSampleResponse };
  /** Cancels a `thread/sample` of the same connection. It does nothing if the sample has ended. */
  'thread/sample/cancel': { params: ThreadSampleCancelParams; result: ThreadSampleCancelResponse };
  /** Changes a thread's settings from the next turn on, as if `turn/start` had set them. */
  'thread/settings/update': { params: ThreadSettingsUpdateParams; result: ThreadSettingsUpdateResponse };
  /** Runs a command of the user without a sandbox. It becomes part of the running turn, or a turn of its own. */
  'thread/shellCommand': { params: ThreadShellCommandParams; result: ThreadShellCommandResponse };
  /** Creates a thread, loads it, and makes the client follow it. */
  'thread/start': { params: ThreadStartParams; result: ThreadStartResponse };
  /** Returns the items of a turn in pages. It is an older form of `thread/items/list`. */
  'thread/turns/items/list': { params: ThreadTurnsItemsListParams; result: ThreadTurnsItemsListResponse };
  /** Returns the turns of a thread in pages. The newest come first. */
  'thread/turns/list': { params: ThreadTurnsListParams; result: ThreadTurnsListResponse };
  /** Makes an archived thread usable again, without loading it. */
  'thread/unarchive': { params: ThreadUnarchiveParams; result: ThreadUnarchiveResponse };
  /** Ends the notifications of a thread for this client. */
  'thread/unsubscribe': { params: ThreadUnsubscribeParams; result: ThreadUnsubscribeResponse };
  /** Ends the running turn as `interrupted`. The response comes first. */
  'turn/interrupt': { params: TurnInterruptParams; result: TurnInterruptResponse };
  /** Changes the settings of a running turn, from its next model request on. Later turns use the settings of the thread. */
  'turn/settings/update': { params: TurnSettingsUpdateParams; result: TurnSettingsUpdateResponse };
  /** Starts a turn, or adds input to the running one. */
  'turn/start': { params: TurnStartParams; result: TurnStartResponse };
  /** Adds input to the running turn. */
  'turn/steer': { params: TurnSteerParams; result: TurnSteerResponse };
}

/** The requests that the server sends. */
export interface ServerRequests {
  /** Asks whether a command may run, whether input may be written to a running command, or whether a command may reach a host. */
  'item/commandExecution/requestApproval': { params: CommandExecutionRequestApprovalParams; result: CommandExecutionRequestApprovalResponse };
  /** Asks whether a patch may change files. */
  'item/fileChange/requestApproval': { params: FileChangeRequestApprovalParams; result: FileChangeRequestApprovalResponse };
  /** Asks whether later commands may get permissions in addition to those of their sandbox. */
  'item/permissions/requestApproval': { params: PermissionsRequestApprovalParams; result: PermissionsRequestApprovalResponse };
  /** Asks the client that provides a tool to run it for the model. */
  'item/tool/call': { params: DynamicToolCallParams; result: DynamicToolCallResponse };
  /** Asks the user one to three questions of the model. */
  'item/tool/requestUserInput': { params: ToolRequestUserInputParams; result: ToolRequestUserInputResponse };
  /** Asks the user a question of an MCP server, or asks for approval of a call of its tool. */
  'mcpServer/elicitation/request': { params: McpServerElicitationRequestParams; result: McpServerElicitationRequestResponse };
}

/** The notifications that the server sends, by their params. */
export interface ServerNotifications {
  /** A login has ended, successfully or not. */
  'account/login/completed': AccountLoginCompletedNotification;
  /** A response of a provider had other rate limits than the one before. */
  'account/rateLimits/updated': AccountRateLimitsUpdatedNotification;
  /** The account has changed: a key was stored or removed. */
  'account/updated': AccountUpdatedNotification;
  /** Until the turn ends, the guardian reviews every command, all input for commands and every patch, because a client has demanded it. */
  'autoApprovalReview/strictReviewRequired': StrictReviewRequiredNotification;
  /** Output of a running command. It is sent before the response to its `command/exec`. */
  'command/exec/outputDelta': CommandExecOutputDeltaNotification;
  /** A problem in the configuration. Everything that does not depend on it still works. */
  'configWarning': ConfigWarningNotification;
  /** The configuration uses something that has a newer form. */
  'deprecationNotice': DeprecationNoticeNotification;
  /** An error in a turn, such as a failed model request. If `willRetry` is true, the server repeats the request. Otherwise the turn fails. */
  'error': ErrorNotification;
  /** The import is done. It has the results of all items, by their type. */
  'externalAgentConfig/import/completed': ExternalAgentConfigImportCompletedNotification;
  /** One item of the import is done. */
  'externalAgentConfig/import/progress': ExternalAgentConfigImportProgressNotification;
  /** A watched file or folder has changed. Only the connection that watches gets it. */
  'fs/changed': FsChangedNotification;
  /** The last matches that were sent are complete. */
  'fuzzyFileSearch/sessionCompleted': FuzzyFileSearchSessionCompletedNotification;
  /** The matches of the last query. It is sent again while files are still being listed. */
  'fuzzyFileSearch/sessionUpdated': FuzzyFileSearchSessionUpdatedNotification;
  /** A text for the user about a review: its result, its failure, or that the turn is interrupted after several denials. */
  'guardianWarning': GuardianWarningNotification;
  /** A hook has run. */
  'hook/completed': HookCompletedNotification;
  /** A hook begins to run. */
  'hook/started': HookStartedNotification;
  /** More text of a message of the agent. */
  'item/agentMessage/delta': AgentMessageDeltaNotification;
  /** A review by the guardian has ended. */
  'item/autoApprovalReview/completed': ItemGuardianApprovalReviewCompletedNotification;
  /** The guardian begins to review an action. */
  'item/autoApprovalReview/started': ItemGuardianApprovalReviewStartedNotification;
  /** More output of a command, from stdout and stderr in the order in which it came. */
  'item/commandExecution/outputDelta': CommandExecutionOutputDeltaNotification;
  /** The agent wrote to a running command. */
  'item/commandExecution/terminalInteraction': TerminalInteractionNotification;
  /** An item is complete. It was stored before this notification was sent. */
  'item/completed': ItemCompletedNotification;
  /** The output of applying a patch. */
  'item/fileChange/outputDelta': FileChangeOutputDeltaNotification;
  /** The part of a patch that the model has written so far. */
  'item/fileChange/patchUpdated': FileChangePatchUpdatedNotification;
  /** An MCP server reports the progress of a call. */
  'item/mcpToolCall/progress': McpToolCallProgressNotification;
  /** More text of a plan. Use the text of the completed item. */
  'item/plan/delta': PlanDeltaNotification;
  /** A new paragraph of the summary of reasoning begins. */
  'item/reasoning/summaryPartAdded': ReasoningSummaryPartAddedNotification;
  /** More text of the summary of reasoning. */
  'item/reasoning/summaryTextDelta': ReasoningSummaryTextDeltaNotification;
  /** More text of the reasoning itself. */
  'item/reasoning/textDelta': ReasoningTextDeltaNotification;
  /** An item begins. */
  'item/started': ItemStartedNotification;
  /** A login to an MCP server has ended, successfully or not. */
  'mcpServer/oauthLogin/completed': McpServerOauthLoginCompletedNotification;
  /** An MCP server of a thread starts, is ready, has failed, or has ended. */
  'mcpServer/startupStatus/updated': McpServerStatusUpdatedNotification;
  /** A different model has answered than the requested one. */
  'model/rerouted': ModelReroutedNotification;
  /** A process has ended. It is the last notification about the process, and its handle can be used again. */
  'process/exited': ProcessExitedNotification;
  /** Output of a running process. It is sent after the response to `process/spawn` and before `process/exited`. */
  'process/outputDelta': ProcessOutputDeltaNotification;
  /** A response of the model is complete. Its items came before. Only clients that asked for raw events get it. */
  'rawResponse/completed': RawResponseCompletedNotification;
  /** The model reads this item from its next request on, or has written it. Only clients that asked for raw events get it. */
  'rawResponseItem/completed': RawResponseItemCompletedNotification;
  /** A request of the server needs no response any more: a client has answered it, or its turn has ended. */
  'serverRequest/resolved': ServerRequestResolvedNotification;
  /** The skills that were listed may have changed: list them again. */
  'skills/changed': SkillsChangedNotification;
  /** A thread was archived. */
  'thread/archived': ThreadArchivedNotification;
  /** A thread was unloaded from memory. */
  'thread/closed': ThreadClosedNotification;
  /** A thread was compacted. The contextCompaction item of the turn says the same. */
  'thread/compacted': ContextCompactedNotification;
  /** A thread was deleted. */
  'thread/deleted': ThreadDeletedNotification;
  /** The thread has no goal any more. It is also sent when a thread without a goal is resumed. */
  'thread/goal/cleared': ThreadGoalClearedNotification;
  /** The goal of a thread was set or has changed: its status, or the tokens and seconds that it has used. */
  'thread/goal/updated': ThreadGoalUpdatedNotification;
  /** A thread got another name. */
  'thread/name/updated': ThreadNameUpdatedNotification;
  /** The queue of a thread has changed: list it again. Only followers of the thread with `experimentalApi` get it. */
  'thread/queue/changed': ThreadQueueChangedNotification;
  /** Turns were removed. Clients that show the thread must read it again. */
  'thread/reverted': ThreadRevertedNotification;
  /** The settings of a thread for its next turns have changed. */
  'thread/settings/updated': ThreadSettingsUpdatedNotification;
  /** A new thread is loaded. */
  'thread/started': ThreadStartedNotification;
  /** The status of a thread, or the reason for which it waits, has changed. */
  'thread/status/changed': ThreadStatusChangedNotification;
  /** The tokens that a thread has used, after each response of the model. */
  'thread/tokenUsage/updated': ThreadTokenUsageUpdatedNotification;
  /** A thread is not archived any more. */
  'thread/unarchived': ThreadUnarchivedNotification;
  /** The turn has ended, for any reason. It is sent exactly once for each turn. */
  'turn/completed': TurnCompletedNotification;
  /** All changes of the turn's patches so far. */
  'turn/diff/updated': TurnDiffUpdatedNotification;
  /** The provider reports its moderation of a response. */
  'turn/moderationMetadata': TurnModerationMetadataNotification;
  /** The agent has changed the list of its steps (`update_plan`). */
  'turn/plan/updated': TurnPlanUpdatedNotification;
  /** A turn begins to run. */
  'turn/started': TurnStartedNotification;
  /** A text for the user about something that did not work as it should. */
  'warning': WarningNotification;
}

/** The notifications that the server knows, by their params. */
export interface ClientNotifications {
  /** Ends the handshake. The server does not wait for it. */
  'initialized': undefined;
}
