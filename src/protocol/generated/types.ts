// Generated from schema/ by `npm run generate`. Do not edit.

/**
 * A list with nothing in it.
 *
 * @maxItems 0
 */
export type EmptyList = [];
/**
 * An absolute path. A relative one is refused by the method that uses it.
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
 * The agent's command, input for a command that runs, or a command of the user's.
 */
export type CommandExecutionApprovalKind = 'command' | 'writeStdin' | 'humanCommand';
export type CommandAction =
  | {
      type: 'read';
      command: string;
      /**
       * The file's name.
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
 * accept runs it; acceptForSession runs its like as well, without asking; decline lets the agent find another way; cancel interrupts the turn.
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
 * accept makes the changes; acceptForSession makes later ones to these files without asking; decline lets the agent find another way; cancel interrupts the turn.
 */
export type FileChangeApprovalDecision = 'accept' | 'acceptForSession' | 'decline' | 'cancel';
/**
 * What commands may read, write and reach.
 */
export type SandboxPolicy =
  | {
      type: 'dangerFullAccess';
    }
  | {
      type: 'readOnly';
      access?: ReadOnlyAccess | null;
      /**
       * False when left out.
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
       * False when left out.
       */
      networkAccess?: boolean | null;
      /**
       * Keeps $TMPDIR read-only. False when left out.
       */
      excludeTmpdirEnvVar?: boolean | null;
      /**
       * Keeps /tmp read-only. False when left out.
       */
      excludeSlashTmp?: boolean | null;
    };
/**
 * What a sandboxed command may read. Everything when left out.
 */
export type ReadOnlyAccess =
  | {
      type: 'fullAccess';
    }
  | {
      type: 'restricted';
      readableRoots?: AbsolutePathBuf[] | null;
      /**
       * Also what programs commonly need. True when left out.
       */
      includePlatformDefaults?: boolean | null;
    };
/**
 * Whether the outer sandbox lets commands reach the network.
 */
export type NetworkAccess = 'restricted' | 'enabled';
export type CommandExecWriteResponse = Record<string, never>;
export type CommandExecResizeResponse = Record<string, never>;
export type CommandExecTerminateResponse = Record<string, never>;
export type CommandExecOutputStream = 'stdout' | 'stderr';
/**
 * When the agent asks before it acts: one policy for all, or a choice for each kind of request.
 */
export type AskForApproval =
  | ('untrusted' | 'on-failure' | 'on-request' | 'never')
  | {
      granular: GranularApproval;
    };
/**
 * Who answers approval requests: the user, or the guardian model (auto_review; guardian_subagent is its older name).
 */
export type ApprovalsReviewer = 'user' | 'auto_review' | 'guardian_subagent';
/**
 * A sandbox policy by its name, details left to the configuration.
 */
export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access';
export type WebSearchMode = 'disabled' | 'cached' | 'indexed' | 'live';
/**
 * How hard the model thinks. The words depend on the model: none, minimal, low, medium, high, xhigh, max …
 */
export type ReasoningEffort = string;
/**
 * How much of its reasoning the model sums up for the reader.
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
export type RequestId = string | number;
export type ServerDiagnosticsParams = Record<string, never>;
export type FsWriteFileResponse = Record<string, never>;
export type FsCreateDirectoryResponse = Record<string, never>;
export type FsRemoveResponse = Record<string, never>;
export type FsCopyResponse = Record<string, never>;
export type FsUnwatchResponse = Record<string, never>;
/**
 * Only an active goal makes an idle thread go on. Blocked: the agent cannot go on alone, or a turn failed. The limits: the provider's, or the goal's own token budget.
 */
export type ThreadGoalStatus = 'active' | 'paused' | 'blocked' | 'usageLimited' | 'budgetLimited' | 'complete';
/**
 * Whether a person asked for the change or the client made it by itself. Taken, and not kept.
 */
export type ThreadGoalMutationOrigin = 'user' | 'automatic';
/**
 * One thing that happened in a turn. An item starts, streams, and completes under one id.
 */
export type ThreadItem =
  | {
      type: 'userMessage';
      id: string;
      /**
       * The id that the client gave its message.
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
       * The session to write to while it runs.
       */
      processId?: string | null;
      source?: CommandExecutionSource;
      status: CommandExecutionStatus;
      /**
       * What the command does, as far as it can be told.
       */
      commandActions: CommandAction[];
      aggregatedOutput?: string | null;
      exitCode?: number | null;
      durationMs?: number | null;
      pluginId?: string | null;
      scriptPath?: string | null;
    }
  | {
      type: 'fileChange';
      id: string;
      changes: FileUpdateChange[];
      status: PatchApplyStatus;
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
       * By thread id.
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
       * The image in base64.
       */
      result?: string;
      /**
       * Stands for the image where it is not inline.
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
       * Spans of the text that the client shows in a way of its own.
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
 * How closely the model looks at an image.
 */
export type ImageDetail = 'auto' | 'low' | 'high' | 'original';
/**
 * Whether a message is said on the way or is the answer.
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
 * Who ran the command. The agent when left out.
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
       * Where the file moved to.
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
 * Where the key comes from: an environment variable, headers of the configuration, or nowhere.
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
/**
 * Clients know this one reason, and drop a notification with any other.
 */
export type ModelRerouteReason = 'highRiskCyberActivity';
/**
 * Until the turn ends, or until the thread is unloaded.
 */
export type PermissionGrantScope = 'turn' | 'session';
export type ProcessSpawnResponse = Record<string, never>;
export type ProcessWriteStdinResponse = Record<string, never>;
export type ProcessResizePtyResponse = Record<string, never>;
export type ProcessKillResponse = Record<string, never>;
export type ProcessOutputStream = 'stdout' | 'stderr';
/**
 * One item of a model's conversation, in the words of the Responses API.
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
       * A JSON text.
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
       * The image in base64.
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
 * What a tool gave back: its body alone, or with whether the call succeeded (which the model is not told).
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
 * The tone that the model is asked to keep.
 */
export type Personality = 'none' | 'friendly' | 'pragmatic';
/**
 * How agent and user work together.
 */
export type ModeKind = 'plan' | 'default';
/**
 * When the agent may start agents of its own.
 */
export type MultiAgentMode =
  | ('explicitRequestOnly' | 'proactive')
  | {
      custom: string;
    };
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
 * What kind of client started the thread.
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
/**
 * Which items are there: none, the first user message and the last agent message, or all.
 */
export type TurnItemsView = 'notLoaded' | 'summary' | 'full';
export type TurnStatus = 'completed' | 'interrupted' | 'failed' | 'inProgress';
/**
 * What went wrong, for programs. The object forms carry the HTTP status where there was one.
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
export type ThreadDeleteResponse = Record<string, never>;
/**
 * The command begins after it.
 */
export type ThreadShellCommandResponse = Record<string, never>;
export type ThreadBackgroundTerminalsCleanResponse = Record<string, never>;
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
 * Begins at an item.
 */
export type ThreadItemsListAnchor = {
  type: 'item';
  itemId: string;
};
/**
 * Whether the thread is the client's first or follows a cleared one.
 */
export type ThreadStartSource = 'startup' | 'clear';
export type DynamicToolSpec =
  | {
      /**
       * May be left out.
       */
      type?: 'function';
      namespace?: string | null;
      name: string;
      description: string;
      /**
       * The JSON Schema of the tool's arguments.
       */
      inputSchema: unknown;
      /**
       * The model finds the tool by search. False when left out.
       */
      deferLoading?: boolean | null;
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
};
export type CapabilityRootLocation = {
  type: 'environment';
  environmentId: string;
  path: string;
};
export type ThreadForkResponse = ThreadStartResponse;
export type ThreadInjectItemsResponse = Record<string, never>;
/**
 * Whether what is said in the thread may be remembered for others.
 */
export type ThreadMemoryMode = 'enabled' | 'disabled';
export type ThreadMemoryModeSetResponse = Record<string, never>;
export type ThreadSettingsUpdateResponse = Record<string, never>;
export type ThreadSetNameResponse = Record<string, never>;
export type ThreadUnsubscribeStatus = 'notLoaded' | 'notSubscribed' | 'unsubscribed';
export type CyberAccessProgram = 'standard' | 'daybreakBlue' | 'daybreakRed';
export type TurnInterruptResponse = Record<string, never>;
/**
 * targetUnavailable: that turn does not run, and nothing was changed.
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
   * ready for `local`, the machine that the server runs on; unknown for any other.
   */
  status: 'ready' | 'unknown';
  error: string | null;
}
export interface ExternalAgentConfigDetectParams {
  cwds?: string[] | null;
  includeHome?: boolean | null;
  maxSessionAgeDays?: number | null;
  maxSessions?: number | null;
  migrationSource?: string | null;
  source?: string | null;
}
export interface ExternalAgentConfigDetectResponse {
  items: EmptyList;
  connectors: EmptyList;
}
export interface ExternalAgentConfigImportHistoriesReadResponse {
  data: EmptyList;
  connectors: EmptyList;
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
   * Always empty: nothing is registered anywhere.
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
 * The defaults must be names that clients know; neither is offered.
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
   * Renews the access token first. False when left out.
   */
  refreshToken?: boolean | null;
}
export interface GetAccountResponse {
  account: Account | null;
  userId: string | null;
  /**
   * Whether the configured provider needs a login at OpenAI.
   */
  requiresOpenaiAuth: boolean;
}
/**
 * May this command run? It is the commandExecution item `itemId`, which has started.
 */
export interface CommandExecutionRequestApprovalParams {
  threadId: string;
  turnId: string;
  itemId: string;
  /**
   * Tells several questions about one item apart.
   */
  approvalId: string | null;
  kind: CommandExecutionApprovalKind;
  /**
   * When it was asked, in Unix milliseconds.
   */
  startedAtMs: number;
  /**
   * Why it is asked, for the user to read.
   */
  reason: string | null;
  command: string | null;
  cwd: AbsolutePathBuf | null;
  /**
   * What the command does, as far as it can be told.
   */
  commandActions: CommandAction[] | null;
  /**
   * What is to be reached, where the question is about the network.
   */
  networkApprovalContext: NetworkApprovalContext | null;
  /**
   * The beginning of a command that can be allowed from now on, word by word.
   */
  proposedExecpolicyAmendment: string[] | null;
  proposedNetworkPolicyAmendments: NetworkPolicyAmendment[] | null;
  /**
   * What the command asks for beyond its sandbox, in which it stays.
   */
  additionalPermissions: AdditionalPermissionProfile | null;
  environmentId: string | null;
  /**
   * The answers that make sense, in the order to show them in.
   */
  availableDecisions: CommandExecutionApprovalDecision[] | null;
}
export interface NetworkApprovalContext {
  host: string;
  protocol: 'http' | 'https' | 'socks5Tcp' | 'socks5Udp';
}
export interface NetworkPolicyAmendment {
  host: string;
  action: 'allow' | 'deny';
}
/**
 * What one command asks for beyond its sandbox.
 */
export interface AdditionalPermissionProfile {
  network: AdditionalNetworkPermissions | null;
  fileSystem: AdditionalFileSystemPermissions | null;
}
export interface AdditionalNetworkPermissions {
  enabled?: boolean | null;
}
/**
 * `read` and `write` name whole files and folders; `entries` says the same once more, in a form that can say more.
 */
export interface AdditionalFileSystemPermissions {
  read?: string[] | null;
  /**
   * To read as well.
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
 * May these files be changed? They are the fileChange item `itemId`, which has started.
 */
export interface FileChangeRequestApprovalParams {
  threadId: string;
  turnId: string;
  itemId: string;
  /**
   * When it was asked, in Unix milliseconds.
   */
  startedAtMs: number;
  /**
   * Why it is asked, for the user to read.
   */
  reason: string | null;
  /**
   * The folder below which accepting allows changes for the session.
   */
  grantRoot: string | null;
}
export interface FileChangeRequestApprovalResponse {
  decision: FileChangeApprovalDecision;
}
/**
 * In characters; neither may be 0.
 */
export interface CommandExecTerminalSize {
  rows: number;
  cols: number;
}
/**
 * Runs a program and answers when it has ended. It ends with its connection, and what it leaves running does too.
 */
export interface CommandExecParams {
  /**
   * The program and its arguments, as they are: there is no shell. Not empty.
   */
  command: string[];
  /**
   * A name by which the connection can write to it, resize it and end it; of those that run no other may have it. Needed for `tty` and for streams.
   */
  processId?: string | null;
  /**
   * Seen from the server's own working folder, which it is when left out.
   */
  cwd?: string | null;
  /**
   * Changes the environment that commands have: a text sets a variable, null takes it away.
   */
  env?: {
    [k: string]: string | null;
  } | null;
  /**
   * After so long it is killed, and the exit code is 124. 10 seconds when left out.
   */
  timeoutMs?: number | null;
  /**
   * It may run for as long as it wants. Not with `timeoutMs`.
   */
  disableTimeout?: boolean | null;
  /**
   * So much is kept of its output, and as much of its errors; what comes later is dropped. 1 MiB when left out.
   */
  outputBytesCap?: number | null;
  /**
   * All that is streamed reaches the client. What is not streamed is still dropped beyond 16 MiB. Not with `outputBytesCap`.
   */
  disableOutputCap?: boolean | null;
  /**
   * Its output is told by `command/exec/outputDelta` and is not in the answer.
   */
  streamStdoutStderr?: boolean | null;
  /**
   * It can be written to; without, its input is empty.
   */
  streamStdin?: boolean | null;
  /**
   * It runs in a terminal: both streams are on, and all output is `stdout`.
   */
  tty?: boolean | null;
  /**
   * Of the terminal; 24 rows of 80 characters when left out. Only with `tty`.
   */
  size?: CommandExecTerminalSize | null;
  /**
   * In place of the configured sandbox.
   */
  sandboxPolicy?: SandboxPolicy | null;
  /**
   * The id of a permission profile, in place of a sandbox policy; earlier clients send the profile itself.
   */
  permissionProfile?: string | CommandExecPermissionProfile | null;
}
/**
 * Disabled: no sandbox. External: somebody else's. Managed profiles are not supported.
 */
export interface CommandExecPermissionProfile {
  type: 'managed' | 'disabled' | 'external';
}
/**
 * Output is read as UTF-8. The exit code of a command that a signal ended is 128 and the signal's number.
 */
export interface CommandExecResponse {
  exitCode: number;
  stdout: string;
  stderr: string;
}
/**
 * Writes to a command with `streamStdin` or `tty`; answers when it has been taken. One of the two is needed.
 */
export interface CommandExecWriteParams {
  processId: string;
  deltaBase64?: string | null;
  /**
   * Nothing more will be written.
   */
  closeStdin?: boolean | null;
}
export interface CommandExecResizeParams {
  processId: string;
  size: CommandExecTerminalSize;
}
/**
 * Kills it and all that it started. Its own answer follows.
 */
export interface CommandExecTerminateParams {
  processId: string;
}
/**
 * Comes before the command's answer.
 */
export interface CommandExecOutputDeltaNotification {
  processId: string;
  stream: CommandExecOutputStream;
  /**
   * The bytes as they came: characters may be cut.
   */
  deltaBase64: string;
  /**
   * This is the last of this stream: its cap has been reached.
   */
  capReached: boolean;
}
export interface ConfigReadParams {
  /**
   * Reads the configuration as a thread in this folder would.
   */
  cwd?: string | null;
  /**
   * False when left out.
   */
  includeLayers?: boolean | null;
}
export interface ConfigReadResponse {
  config: Config;
  /**
   * For each key that is set, dots between its parts, the layer that sets it.
   */
  origins: {
    [k: string]: ConfigLayerMetadata;
  };
  /**
   * The strongest first. Null unless asked for.
   */
  layers: ConfigLayer[] | null;
}
/**
 * The keys of config.toml that clients read, null where they are not set; whatever else is set stands beside them.
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
   * Only for clients of the experimental API.
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
   * Only for clients of the experimental API.
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
 * Kinds of approval request: true lets them be asked, false refuses them without asking.
 */
export interface GranularApproval {
  /**
   * Running a command outside the sandbox.
   */
  sandbox_approval: boolean;
  /**
   * Commands for which a rule says to ask.
   */
  rules: boolean;
  /**
   * Questions of MCP servers.
   */
  mcp_elicitations: boolean;
  /**
   * The request_permissions tool; false when left out.
   */
  request_permissions?: boolean | null;
  /**
   * Scripts that a skill brings along; false when left out.
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
   * Changes with the layer's content.
   */
  version: string;
  config: unknown;
  /**
   * Why the layer has no effect; null where it has.
   */
  disabledReason: string | null;
}
export interface ConfigRequirementsReadResponse {
  /**
   * Always null: no administrator limits what may be configured.
   */
  requirements: null;
  supportsIndependentSpeedModes: boolean | null;
}
/**
 * Something in the configuration does not work. What does not need it goes on.
 */
export interface ConfigWarningNotification {
  summary: string;
  details: string | null;
  /**
   * The file.
   */
  path: string | null;
  range: TextRange | null;
}
export interface TextRange {
  start: TextPosition;
  end: TextPosition;
}
/**
 * Counted from 1.
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
   * A short machine name, such as my-editor.
   */
  name: string;
  /**
   * The name that people know.
   */
  title?: string | null;
  version: string;
}
/**
 * What the client can do, and what it does not want.
 */
export interface InitializeCapabilities {
  /**
   * Opens experimental methods and fields. False when left out.
   */
  experimentalApi?: boolean | null;
  /**
   * Notifications that are not sent to this client, by their exact method.
   */
  optOutNotificationMethods?: string[] | null;
  /**
   * Extensions that the client knows, with their settings.
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
   * Begins with the client's name and the protocol's version: NAME/x.y.z (…).
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
   * linux, macos or windows.
   */
  platformOs: string;
  /**
   * The version of the protocol that the server speaks, x.y.z.
   */
  protocolVersion: string;
  serverInfo: ServerInfo;
  capabilities: ServerCapabilities;
}
export interface ServerInfo {
  name: string;
  /**
   * The server's own version.
   */
  version: string;
}
/**
 * What this server serves, so that a client need not find out by trying.
 */
export interface ServerCapabilities {
  /**
   * The methods served, by group: the part of the name before the first slash.
   */
  methods: {
    [k: string]: string[];
  };
  /**
   * What commands are confined with, such as bubblewrap; null where this machine has nothing for it. Whether it works is found out by the first command that needs it.
   */
  sandbox: string | null;
  transports: string[];
  /**
   * Limits by name, the unit last.
   */
  limits: {
    [k: string]: number;
  };
}
/**
 * How the server is doing.
 */
export interface ServerDiagnosticsResponse {
  process: ServerDiagnosticsProcess;
  gauges: ServerDiagnosticsGauge[];
}
export interface ServerDiagnosticsProcess {
  id: number;
  /**
   * Null where the server was not told how to measure it.
   */
  residentMemoryBytes: number | null;
  /**
   * Always null.
   */
  physicalFootprintBytes: null;
}
export interface ServerDiagnosticsGauge {
  /**
   * app.connections.open; app.requests.in_flight, being worked on, this one among them; app.requests.queued, waiting for their turn; app.server_requests.pending, asked of clients; core.threads.live, loaded; core.turns.running.
   */
  name: string;
  value: number;
}
export interface WarningNotification {
  message: string;
  /**
   * Null: it concerns the server.
   */
  threadId: string | null;
}
export interface DeprecationNoticeNotification {
  summary: string;
  /**
   * What to use instead.
   */
  details: string | null;
}
/**
 * A request of the server needs no answer any more: it was answered, or its turn is over.
 */
export interface ServerRequestResolvedNotification {
  threadId: string;
  requestId: RequestId;
}
/**
 * Reads a regular file, of less than 24 MiB. Links are followed.
 */
export interface FsReadFileParams {
  path: AbsolutePathBuf;
}
export interface FsReadFileResponse {
  dataBase64: string;
}
/**
 * Makes a file, or replaces what is in one: whoever reads it meanwhile sees the old contents or the new. Links are followed, the mode stays.
 */
export interface FsWriteFileParams {
  path: AbsolutePathBuf;
  /**
   * The whole new contents, padded.
   */
  dataBase64: string;
}
export interface FsCreateDirectoryParams {
  path: AbsolutePathBuf;
  /**
   * Also makes the folders above it, and takes one that is there already. True when left out.
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
   * Whether the path itself is a symbolic link; the other fields are of what it leads to.
   */
  isSymlink: boolean;
  /**
   * Unix milliseconds; 0 where the system does not say.
   */
  createdAtMs: number;
  /**
   * Unix milliseconds.
   */
  modifiedAtMs: number;
}
export interface FsReadDirectoryParams {
  path: AbsolutePathBuf;
}
/**
 * Of a symbolic link both tell what it leads to; neither: it is something else, or leads nowhere.
 */
export interface FsReadDirectoryEntry {
  /**
   * Without the folder.
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
/**
 * Removes a file, a folder, or a symbolic link without what it leads to.
 */
export interface FsRemoveParams {
  path: AbsolutePathBuf;
  /**
   * Also a folder with something in it. True when left out.
   */
  recursive?: boolean | null;
  /**
   * Whether it is fine that nothing is there. True when left out.
   */
  force?: boolean | null;
}
/**
 * Copies a file, over one that may be there; or a folder or a symbolic link, to where nothing is. Links are copied as links; pipes, sockets and devices inside a folder are left out.
 */
export interface FsCopyParams {
  sourcePath: AbsolutePathBuf;
  destinationPath: AbsolutePathBuf;
  /**
   * A folder is copied with all that is in it, or not at all. False when left out.
   */
  recursive?: boolean | null;
}
/**
 * Tells of changes of a file, or of a folder and the entries in it (not of what lies deeper). It need not exist yet, and may go and come back.
 */
export interface FsWatchParams {
  /**
   * The client's name for the watch; one that its connection does not have yet.
   */
  watchId: string;
  path: AbsolutePathBuf;
}
export interface FsWatchResponse {
  /**
   * The watched path without `.`, `..` and slashes at its end.
   */
  path: AbsolutePathBuf;
}
/**
 * Ends a watch; one that there is none of has ended already.
 */
export interface FsUnwatchParams {
  watchId: string;
}
/**
 * Goes to the connection that watches. Changes that come close together are told together.
 */
export interface FsChangedNotification {
  watchId: string;
  /**
   * What was made, changed, renamed or removed: the watched path, or entries under it, by the path that the client gave.
   */
  changedPaths: AbsolutePathBuf[];
}
/**
 * Times are Unix seconds.
 */
export interface ThreadGoal {
  threadId: string;
  objective: string;
  status: ThreadGoalStatus;
  /**
   * Null: no limit.
   */
  tokenBudget: number | null;
  /**
   * By the turns under this goal: what the model read and was not cached, and what it said.
   */
  tokensUsed: number;
  /**
   * How long turns have run under this goal.
   */
  timeUsedSeconds: number;
  createdAt: number;
  updatedAt: number;
}
/**
 * Begins a goal, which needs an objective, or changes the one there is: what is left out stays.
 */
export interface ThreadGoalSetParams {
  threadId: string;
  /**
   * At most 4,000 characters; blanks around it are dropped.
   */
  objective?: string | null;
  /**
   * A new goal is active unless this says otherwise.
   */
  status?: ThreadGoalStatus | null;
  /**
   * More than 0. Here null is not as if absent: it takes the budget away.
   */
  tokenBudget?: number | null;
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
  origin?: ThreadGoalMutationOrigin | null;
}
export interface ThreadGoalClearResponse {
  /**
   * False: there was no goal.
   */
  cleared: boolean;
}
/**
 * The thread has no goal any more; on resume: it has none.
 */
export interface ThreadGoalClearedNotification {
  threadId: string;
}
export interface ThreadGoalUpdatedNotification {
  threadId: string;
  /**
   * The turn whose work changed the goal; null where a client did.
   */
  turnId: string | null;
  goal: ThreadGoal;
}
export interface TextElement {
  byteRange: ByteRange;
  /**
   * What the client shows in place of the span.
   */
  placeholder?: string | null;
}
/**
 * A span of a text, in bytes of its UTF-8 form; the end is exclusive.
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
   * A unified diff; the content for files added or deleted.
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
   * What the agent said last.
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
/**
 * The item as a whole. What a client has seen completed is stored.
 */
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
/**
 * What there is to say of how the files were changed.
 */
export interface FileChangeOutputDeltaNotification {
  threadId: string;
  turnId: string;
  itemId: string;
  delta: string;
}
/**
 * A patch as far as the model has written it. The item that it becomes begins once the patch is verified against the files, and has this id then. Each notification has the whole patch so far, with paths and changes as the model writes them.
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
/**
 * The summary goes on with a new paragraph.
 */
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
   * For people.
   */
  message: string;
  /**
   * The server's errors have `code` in it, a word that stays the same.
   */
  data?: unknown;
}
export interface ModelListParams {
  cursor?: string | null;
  limit?: number | null;
  /**
   * Also models that a picker leaves out. False when left out.
   */
  includeHidden?: boolean | null;
  /**
   * The models of this provider; else those of the configured one.
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
   * The name that turn/start takes.
   */
  model: string;
  /**
   * The model that replaces this one.
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
   * The model of a thread that names none.
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
   * Those of the configuration, then the built-in ones; without those that are configured wrongly.
   */
  data: ModelProviderSummary[];
  /**
   * The provider of a thread that names none.
   */
  defaultProviderId: string;
  /**
   * Always false: this server does not write the configuration.
   */
  canChangeDefault: boolean;
}
export interface ModelProviderSummary {
  /**
   * The name that thread/start takes.
   */
  id: string;
  /**
   * For people.
   */
  name: string;
  /**
   * Always false: this server does not write the configuration.
   */
  canEdit: boolean;
  /**
   * Null: it is not reached over a network.
   */
  baseUrl: string | null;
  settings: ProviderSettings;
}
/**
 * Another model than the one that was asked for answers the rest of the turn.
 */
export interface ModelReroutedNotification {
  threadId: string;
  turnId: string;
  fromModel: string;
  toModel: string;
  reason: ModelRerouteReason;
}
export interface PermissionProfileListParams {
  /**
   * The `nextCursor` of an earlier answer.
   */
  cursor?: string | null;
  /**
   * At least 1 counts; all of them when left out.
   */
  limit?: number | null;
  /**
   * The folder whose configuration counts; the server's own when left out.
   */
  cwd?: string | null;
}
export interface PermissionProfileListResponse {
  data: PermissionProfileSummary[];
  nextCursor: string | null;
}
export interface PermissionProfileSummary {
  /**
   * What `permissions` takes.
   */
  id: string;
  description: string | null;
  /**
   * False: this server cannot keep a process within it, and refuses to run a thread with it.
   */
  allowed: boolean;
}
/**
 * The permission profile that a thread's sandbox policy comes from.
 */
export interface ActivePermissionProfile {
  id: string;
  /**
   * The profile that it builds on.
   */
  extends: string | null;
}
/**
 * May commands do this beyond what their sandbox allows?
 */
export interface PermissionsRequestApprovalParams {
  threadId: string;
  turnId: string;
  /**
   * The model's id for the call. There is no item.
   */
  itemId: string;
  environmentId: string | null;
  /**
   * When it was asked, in Unix milliseconds.
   */
  startedAtMs: number;
  cwd: AbsolutePathBuf;
  /**
   * Why it is asked, in the model's words.
   */
  reason: string | null;
  permissions: RequestPermissionProfile;
}
/**
 * What is asked for; null: nothing of that kind.
 */
export interface RequestPermissionProfile {
  network: AdditionalNetworkPermissions | null;
  fileSystem: AdditionalFileSystemPermissions | null;
}
export interface PermissionsRequestApprovalResponse {
  permissions: GrantedPermissionProfile;
  /**
   * For how long; for the turn when left out.
   */
  scope?: PermissionGrantScope | null;
  /**
   * Accepted, and of no effect.
   */
  strictAutoReview?: boolean | null;
}
/**
 * What is granted. Of what was not asked for nothing is.
 */
export interface GrantedPermissionProfile {
  network?: AdditionalNetworkPermissions | null;
  fileSystem?: AdditionalFileSystemPermissions | null;
}
/**
 * In characters; neither may be 0.
 */
export interface ProcessTerminalSize {
  rows: number;
  cols: number;
}
/**
 * Starts a program and answers at once. It ends with its connection, and what it leaves running does too.
 */
export interface ProcessSpawnParams {
  /**
   * The program and its arguments, as they are: there is no shell. Not empty.
   */
  command: string[];
  /**
   * What the connection calls it; of those that run no other may have it. Not empty.
   */
  processHandle: string;
  cwd: AbsolutePathBuf;
  /**
   * Changes the environment that commands have: a text sets a variable, null takes it away.
   */
  env?: {
    [k: string]: string | null;
  } | null;
  /**
   * After so long it is killed, and the exit code is 124. 10 seconds when left out; here null is not as if absent: it may run for as long as it wants.
   */
  timeoutMs?: number | null;
  /**
   * So much is kept of its output, and as much of its errors; what comes later is dropped. 1 MiB when left out; here null is not as if absent: all that is streamed reaches the client, and of what is not streamed 16 MiB.
   */
  outputBytesCap?: number | null;
  /**
   * Its output is told by `process/outputDelta` and is not in `process/exited`.
   */
  streamStdoutStderr?: boolean | null;
  /**
   * It can be written to; without, its input is empty.
   */
  streamStdin?: boolean | null;
  /**
   * It runs in a terminal: both streams are on, and all output is `stdout`.
   */
  tty?: boolean | null;
  /**
   * Of the terminal; 24 rows of 80 characters when left out. Only with `tty`.
   */
  size?: ProcessTerminalSize | null;
}
/**
 * Writes to a process with `streamStdin` or `tty`; answers when it has been taken. One of the two is needed.
 */
export interface ProcessWriteStdinParams {
  processHandle: string;
  deltaBase64?: string | null;
  /**
   * Nothing more will be written.
   */
  closeStdin?: boolean | null;
}
export interface ProcessResizePtyParams {
  processHandle: string;
  size: ProcessTerminalSize;
}
/**
 * Kills it and all that it started. `process/exited` follows.
 */
export interface ProcessKillParams {
  processHandle: string;
}
/**
 * Comes between the answer to `process/spawn` and `process/exited`.
 */
export interface ProcessOutputDeltaNotification {
  processHandle: string;
  stream: ProcessOutputStream;
  /**
   * The bytes as they came: characters may be cut.
   */
  deltaBase64: string;
  /**
   * This is the last of this stream: its cap has been reached.
   */
  capReached: boolean;
}
/**
 * The last that is told of a process: its handle is free. Output is read as UTF-8. The exit code of a process that a signal ended is 128 and the signal's number.
 */
export interface ProcessExitedNotification {
  processHandle: string;
  exitCode: number;
  stdout: string;
  stdoutCapReached: boolean;
  stderr: string;
  stderrCapReached: boolean;
  /**
   * What it started still held its output open, and was not waited for.
   */
  outputDrainTimedOut: boolean;
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
/**
 * A mode with the model settings that belong to it; they win over the thread's own.
 */
export interface CollaborationMode {
  mode: ModeKind;
  settings: CollaborationModeSettings;
}
export interface CollaborationModeSettings {
  model: string;
  reasoning_effort?: ReasoningEffort | null;
  /**
   * Null: the mode's built-in instructions.
   */
  developer_instructions?: string | null;
}
/**
 * A place where the turn may run commands.
 */
export interface TurnEnvironmentParams {
  environmentId: string;
  cwd: string;
  runtimeWorkspaceRoots?: string[] | null;
}
/**
 * Ends a running turn, unloads the thread and moves it among the archived ones.
 */
export interface ThreadArchiveParams {
  threadId: string;
}
export interface ThreadUnarchiveParams {
  threadId: string;
}
export interface ThreadUnarchiveResponse {
  /**
   * Without its turns.
   */
  thread: Thread;
}
/**
 * A conversation between a user and the agent. Times are Unix seconds.
 */
export interface Thread {
  /**
   * A UUIDv7; later threads sort after earlier ones.
   */
  id: string;
  /**
   * The same for a thread and the agents that it started.
   */
  sessionId: string;
  forkedFromId: string | null;
  /**
   * The thread whose agent started this one.
   */
  parentThreadId: string | null;
  /**
   * The first user message's text; empty before it.
   */
  preview: string;
  /**
   * Kept in memory only.
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
   * When a turn last began.
   */
  recencyAt: number | null;
  status: ThreadStatus;
  /**
   * Where an exported rollout of the thread lies or would lie.
   */
  path: string | null;
  cwd: AbsolutePathBuf;
  /**
   * The version of the protocol under which the thread began.
   */
  cliVersion: string;
  /**
   * The client that started the thread.
   */
  originator: string | null;
  source: SessionSource;
  threadSource: string | null;
  agentNickname: string | null;
  agentRole: string | null;
  gitInfo: GitInfo | null;
  name: string | null;
  /**
   * As a client set it; null: none did.
   */
  daybreakEnabled: boolean | null;
  /**
   * Oldest first. Empty where a method does not give the history.
   */
  turns: Turn[];
}
/**
 * The state of the working folder's repository when the thread began.
 */
export interface GitInfo {
  sha: string | null;
  branch: string | null;
  originUrl: string | null;
}
export interface Turn {
  id: string;
  items: ThreadItem[];
  itemsView: TurnItemsView;
  status: TurnStatus;
  /**
   * Why the turn failed; else null.
   */
  error: TurnError | null;
  /**
   * Unix seconds.
   */
  startedAt: number | null;
  /**
   * Unix seconds.
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
/**
 * Ends a running turn and takes the thread away for good. Its forks keep their history.
 */
export interface ThreadDeleteParams {
  threadId: string;
}
/**
 * Ends a running turn and takes a turn away, with all that came after it.
 */
export interface ThreadRevertParams {
  threadId: string;
  /**
   * The first turn that goes.
   */
  beforeTurnId: string;
}
export interface ThreadRevertResponse {
  /**
   * Without its turns.
   */
  thread: Thread;
  /**
   * Lists turns from the last one on. Null: none is left.
   */
  turnsBackwardsCursor: string | null;
  /**
   * Lists items from the last one on. Null: none is left.
   */
  itemsBackwardsCursor: string | null;
}
/**
 * Takes the last turns away, while none runs.
 */
export interface ThreadRollbackParams {
  threadId: string;
  /**
   * At least 1. More than there are: all.
   */
  numTurns: number;
}
export interface ThreadRollbackResponse {
  /**
   * With the turns that are left.
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
/**
 * Turns are gone: what a client shows of the thread has to be read again.
 */
export interface ThreadRevertedNotification {
  threadId: string;
}
/**
 * More output of a command, of both its streams as it came.
 */
export interface CommandExecutionOutputDeltaNotification {
  threadId: string;
  /**
   * The turn of the item, which may have ended.
   */
  turnId: string;
  itemId: string;
  delta: string;
}
/**
 * The agent wrote to a command that runs.
 */
export interface TerminalInteractionNotification {
  threadId: string;
  /**
   * The turn of the item, which may have ended.
   */
  turnId: string;
  itemId: string;
  processId: string;
  /**
   * What was written.
   */
  stdin: string;
}
/**
 * Runs a command of the user's, outside any sandbox: in the turn that runs, else in a turn of its own that does not ask the model. The model reads command and output with its next request.
 */
export interface ThreadShellCommandParams {
  threadId: string;
  /**
   * A line for the user's shell.
   */
  command: string;
  /**
   * How long it may run before it is killed. An hour when left out.
   */
  timeoutMs?: number | null;
}
/**
 * The thread's commands that run beyond the call that began them.
 */
export interface ThreadBackgroundTerminalsListParams {
  threadId: string;
  cursor?: string | null;
  limit?: number | null;
}
export interface ThreadBackgroundTerminalsListResponse {
  /**
   * The latest first.
   */
  data: ThreadBackgroundTerminal[];
  nextCursor: string | null;
}
export interface ThreadBackgroundTerminal {
  /**
   * The commandExecution item that shows it.
   */
  itemId: string;
  /**
   * Names it in thread/backgroundTerminals/terminate.
   */
  processId: string;
  command: string;
  cwd: string;
  /**
   * The system's id of it, as the server sees it.
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
/**
 * Kills one of them, with all that it has started.
 */
export interface ThreadBackgroundTerminalsTerminateParams {
  threadId: string;
  processId: string;
}
export interface ThreadBackgroundTerminalsTerminateResponse {
  /**
   * False: none of that id runs.
   */
  terminated: boolean;
}
/**
 * Kills all of them.
 */
export interface ThreadBackgroundTerminalsCleanParams {
  threadId: string;
}
/**
 * Reads a thread without loading it.
 */
export interface ThreadReadParams {
  threadId: string;
  /**
   * False when left out.
   */
  includeTurns?: boolean | null;
}
export interface ThreadReadResponse {
  thread: Thread;
}
export interface ThreadListParams {
  cursor?: string | null;
  /**
   * 25 when left out; from 1 to 1000.
   */
  limit?: number | null;
  /**
   * created_at when left out. A cursor is good for its own order only; section_position needs sectionId.
   */
  sortKey?: ThreadSortKey | null;
  /**
   * Newest first when left out.
   */
  sortDirection?: SortDirection | null;
  /**
   * True: the archived threads only. False when left out.
   */
  archived?: boolean | null;
  /**
   * Threads of this folder, or of one of these.
   */
  cwd?: ThreadListCwdFilter | null;
  /**
   * Left out or null: the configured provider. Empty: all.
   */
  modelProviders?: string[] | null;
  /**
   * Left out, null or empty: threads that a person started.
   */
  sourceKinds?: ThreadSourceKind[] | null;
  /**
   * Threads that these clients started, by the names in their clientInfo. Left out, null or empty: all.
   */
  originators?: string[] | null;
  /**
   * A part of the name or of the preview, character for character but for its case.
   */
  searchTerm?: string | null;
  /**
   * Threads to leave out.
   */
  excludedThreadIds?: string[] | null;
  /**
   * Threads of this section. None is in one yet.
   */
  sectionId?: string | null;
  /**
   * Without effect: a home is of one account.
   */
  currentAccountOnly?: boolean | null;
  /**
   * Without effect: the store is the only place that is read.
   */
  useStateDbOnly?: boolean | null;
  /**
   * Threads of this project. None is in one yet.
   */
  projectId?: string | null;
  /**
   * Threads that this one spawned: a fork is no child. None has spawned one yet.
   */
  parentThreadId?: string | null;
  /**
   * In place of parentThreadId: at any depth.
   */
  ancestorThreadId?: string | null;
  /**
   * Threads that are attached to this one. None is yet.
   */
  attachedToThreadId?: string | null;
  /**
   * Attached threads too, in a search: it needs searchTerm.
   */
  includeAttachedThreads?: boolean | null;
}
export interface ThreadListResponse {
  data: Thread[];
  /**
   * Null: this is the last page.
   */
  nextCursor: string | null;
  /**
   * With the other direction, begins where this page began.
   */
  backwardsCursor: string | null;
}
export interface ThreadLoadedListParams {
  cursor?: string | null;
  limit?: number | null;
}
export interface ThreadLoadedListResponse {
  /**
   * Thread ids.
   */
  data: string[];
  nextCursor: string | null;
}
export interface ThreadTurnsListParams {
  threadId: string;
  cursor?: string | null;
  limit?: number | null;
  /**
   * Newest first when left out.
   */
  sortDirection?: SortDirection | null;
  /**
   * Summary when left out.
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
   * Only this turn's items.
   */
  turnId?: string | null;
  cursor?: ThreadItemsListCursor | null;
  limit?: number | null;
  /**
   * Oldest first when left out.
   */
  sortDirection?: SortDirection | null;
  deferOutput?: ThreadItemOutputDeferral | null;
}
/**
 * Kinds of items whose output the client fetches later.
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
   * 1 to 100.
   */
  itemIds: string[];
}
/**
 * In the turn's order. Items that the turn does not have are left out.
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
   * Oldest first when left out.
   */
  sortDirection?: SortDirection | null;
}
export interface ThreadTurnsItemsListResponse {
  data: ThreadItem[];
  nextCursor: string | null;
  backwardsCursor: string | null;
}
export interface ThreadStartParams {
  model?: string | null;
  modelProvider?: string | null;
  allowProviderModelFallback?: boolean | null;
  serviceTier?: string | null;
  cwd?: string | null;
  runtimeWorkspaceRoots?: AbsolutePathBuf[] | null;
  approvalPolicy?: AskForApproval | null;
  approvalsReviewer?: ApprovalsReviewer | null;
  sandbox?: SandboxMode | null;
  /**
   * A permission profile, by its id.
   */
  permissions?: string | null;
  /**
   * Overrides of the configuration, keys as in config.toml; a dot in a key goes one table down.
   */
  config?: {
    [k: string]: unknown;
  } | null;
  serviceName?: string | null;
  /**
   * Takes the place of the model's built-in instructions.
   */
  baseInstructions?: string | null;
  /**
   * Added to the prompt.
   */
  developerInstructions?: string | null;
  personality?: Personality | null;
  multiAgentMode?: MultiAgentMode | null;
  /**
   * Keeps the thread in memory only.
   */
  ephemeral?: boolean | null;
  historyMode?: ThreadHistoryMode | null;
  sessionStartSource?: ThreadStartSource | null;
  /**
   * What the thread is for, in the client's words.
   */
  threadSource?: string | null;
  projectId?: string | null;
  environments?: TurnEnvironmentParams[] | null;
  /**
   * Tools that the client runs, asked by item/tool/call.
   */
  dynamicTools?: DynamicToolSpec[] | null;
  selectedCapabilityRoots?: SelectedCapabilityRoot[] | null;
  daybreakEnabled?: boolean | null;
  mockExperimentalField?: string | null;
  experimentalRawEvents?: boolean | null;
  /**
   * Without effect: the whole history is always kept.
   */
  persistExtendedHistory?: boolean | null;
}
export interface SelectedCapabilityRoot {
  id: string;
  location: CapabilityRootLocation;
}
/**
 * The new thread and the settings that hold for it.
 */
export interface ThreadStartResponse {
  thread: Thread;
  model: string;
  modelProvider: string;
  serviceTier: string | null;
  disabledPluginIds: string[];
  cwd: AbsolutePathBuf;
  /**
   * The instruction files that the model reads.
   */
  instructionSources: AbsolutePathBuf[];
  approvalPolicy: AskForApproval;
  approvalsReviewer: ApprovalsReviewer;
  sandbox: SandboxPolicy;
  /**
   * Null: the sandbox policy comes from no profile.
   */
  activePermissionProfile: ActivePermissionProfile | null;
  /**
   * The folders of the workspace: the working folder, unless others were named.
   */
  runtimeWorkspaceRoots: AbsolutePathBuf[];
  reasoningEffort: ReasoningEffort | null;
}
/**
 * The thread is found by history, else by path, else by threadId. What is left out stays as the last turn had it.
 */
export interface ThreadResumeParams {
  threadId: string;
  /**
   * Starts a new thread with this history.
   */
  history?: ResponseItem[] | null;
  /**
   * A rollout file. Empty: as if left out.
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
   * Leaves the thread's turns out of the answer.
   */
  excludeTurns?: boolean | null;
  /**
   * Asks for a page of turns in the same answer.
   */
  initialTurnsPage?: ThreadResumeInitialTurnsPageParams | null;
  /**
   * Without effect: the whole history is always kept.
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
   * Null: the sandbox policy comes from no profile.
   */
  activePermissionProfile: ActivePermissionProfile | null;
  /**
   * The folders of the workspace: the working folder, unless others were named.
   */
  runtimeWorkspaceRoots: AbsolutePathBuf[];
  reasoningEffort: ReasoningEffort | null;
  collaborationMode: CollaborationMode | null;
  /**
   * Null unless it was asked for.
   */
  initialTurnsPage: TurnsPage | null;
  /**
   * With it thread/turns/list begins at the newest turn.
   */
  turnsBackwardsCursor: string | null;
  /**
   * With it thread/items/list begins at the newest item.
   */
  itemsBackwardsCursor: string | null;
}
/**
 * A new thread that shares the source's history, whole or up to a turn.
 */
export interface ThreadForkParams {
  threadId: string;
  /**
   * A rollout file; wins over threadId. Empty: as if left out.
   */
  path?: string | null;
  /**
   * The fork ends with this turn.
   */
  lastTurnId?: string | null;
  /**
   * The fork ends before this turn.
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
   * Keeps the fork in memory only.
   */
  ephemeral?: boolean | null;
  threadSource?: string | null;
  /**
   * Leaves the thread's turns out of the answer.
   */
  excludeTurns?: boolean | null;
  attachToSource?: boolean | null;
  deferGoalContinuation?: boolean | null;
  experimentalPredictionMode?: boolean | null;
  experimentalDisablePredictionMcp?: boolean | null;
  /**
   * Without effect: the whole history is always kept.
   */
  persistExtendedHistory?: boolean | null;
}
/**
 * Adds to what the model reads, behind all that it has read. Clients are shown nothing of it.
 */
export interface ThreadInjectItemsParams {
  threadId: string;
  /**
   * ResponseItems, 1 to 1,000. An item of a type that is not known here is left out.
   */
  items: unknown[];
}
/**
 * A field that is left out or null stays as it is; one at least must be given.
 */
export interface ThreadMetadataUpdateParams {
  threadId: string;
  gitInfo?: ThreadMetadataGitInfoUpdateParams | null;
  /**
   * An empty one takes the thread out of its project.
   */
  projectId?: string | null;
  daybreakEnabled?: boolean | null;
}
/**
 * A field that is left out stays as it is, null clears it; one at least must be given.
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
 * Holds from the next turn on, as if it had been given there. What is left out stays as it is.
 */
export interface ThreadSettingsUpdateParams {
  threadId: string;
  cwd?: string | null;
  approvalPolicy?: AskForApproval | null;
  approvalsReviewer?: ApprovalsReviewer | null;
  sandboxPolicy?: SandboxPolicy | null;
  runtimeWorkspaceRoots?: AbsolutePathBuf[] | null;
  /**
   * A permission profile, by its id (`permissionProfile/list`).
   */
  permissions?: string | null;
  model?: string | null;
  effort?: ReasoningEffort | null;
  summary?: ReasoningSummary | null;
  serviceTier?: string | null;
  personality?: Personality | null;
  collaborationMode?: CollaborationMode | null;
  multiAgentMode?: MultiAgentMode | null;
  /**
   * Refused unless it is empty.
   */
  environments?: TurnEnvironmentParams[] | null;
  disabledPluginIds?: string[] | null;
}
export interface ThreadSettingsUpdatedNotification {
  threadId: string;
  threadSettings: ThreadSettings;
}
/**
 * What the thread's next turn runs with.
 */
export interface ThreadSettings {
  cwd: AbsolutePathBuf;
  approvalPolicy: AskForApproval;
  approvalsReviewer: ApprovalsReviewer;
  sandboxPolicy: SandboxPolicy;
  /**
   * Null: the sandbox policy comes from no profile.
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
   * Always null.
   */
  environments: null;
}
export interface ThreadTokenUsage {
  /**
   * Of all requests of the thread.
   */
  total: TokenUsageBreakdown;
  /**
   * Of the last request.
   */
  last: TokenUsageBreakdown;
  /**
   * Null: not known.
   */
  modelContextWindow: number | null;
}
export interface TokenUsageBreakdown {
  totalTokens: number;
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteInputTokens: number;
  outputTokens: number;
  reasoningOutputTokens: number;
}
export interface ThreadSetNameParams {
  threadId: string;
  /**
   * At most 1,000 characters, without the spaces around it.
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
/**
 * The thread is not in memory any more.
 */
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
export interface ToolRequestUserInputParams {
  threadId: string;
  turnId: string;
  itemId: string;
  questions: ToolRequestUserInputQuestion[];
  /**
   * The turn waits for the answer.
   */
  isBlocking: boolean;
  /**
   * After this the agent goes on without an answer.
   */
  autoResolutionMs: number | null;
}
export interface ToolRequestUserInputQuestion {
  id: string;
  header: string;
  question: string;
  /**
   * A free answer is allowed beside the options.
   */
  isOther: boolean;
  /**
   * The answer is not to be shown while typed.
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
   * By the question's id.
   */
  answers: {
    [k: string]: ToolRequestUserInputAnswer;
  };
}
export interface ToolRequestUserInputAnswer {
  answers: string[];
}
/**
 * Settings given here hold for this and later turns, outputSchema and those named …ForTurn for this one only.
 */
export interface TurnStartParams {
  threadId: string;
  /**
   * Comes back as the userMessage item's clientId.
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
   * A JSON Schema that the final message must fit.
   */
  outputSchema?: unknown;
  collaborationMode?: CollaborationMode | null;
  multiAgentMode?: MultiAgentMode | null;
  permissions?: string | null;
  runtimeWorkspaceRoots?: AbsolutePathBuf[] | null;
  environments?: TurnEnvironmentParams[] | null;
  /**
   * More for the model to read, by key.
   */
  additionalContext?: {
    [k: string]: AdditionalContextEntry;
  } | null;
  responsesapiClientMetadata?: {
    [k: string]: string;
  } | null;
  responsesapiClientMetadataPatch?: {
    [k: string]: string;
  } | null;
  cyberAccessProgram?: CyberAccessProgram | null;
  toolOutput?: TurnToolOutput | null;
  parentTurnId?: string | null;
  rootTurnId?: string | null;
  turnTrigger?: string | null;
  disabledPluginIds?: string[] | null;
}
export interface AdditionalContextEntry {
  value: string;
  /**
   * Whether the text may carry instructions.
   */
  kind: 'untrusted' | 'application';
  name?: string | null;
}
/**
 * A tool's output that the turn begins with.
 */
export interface TurnToolOutput {
  name: string;
  namespace?: string | null;
  output: FunctionCallOutputBody;
  retain?: boolean | null;
}
/**
 * The turn that takes the input: a new one, or the one that was running.
 */
export interface TurnStartResponse {
  turn: Turn;
}
/**
 * More input for the turn that runs.
 */
export interface TurnSteerParams {
  threadId: string;
  /**
   * Refused where another turn runs.
   */
  expectedTurnId: string;
  clientUserMessageId?: string | null;
  input: UserInput[];
  additionalContext?: {
    [k: string]: AdditionalContextEntry;
  } | null;
  responsesapiClientMetadata?: {
    [k: string]: string;
  } | null;
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
/**
 * Changes a turn that runs, from its next request to the model on. Later turns run with what the thread has.
 */
export interface TurnSettingsUpdateParams {
  threadId: string;
  turnId: string;
  model?: string | null;
  effort?: ReasoningEffort | null;
  summary?: ReasoningSummary | null;
  serviceTier?: string | null;
  approvalsReviewer?: ApprovalsReviewer | null;
  /**
   * Refused unless it is empty.
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
/**
 * The turn is over, however it ended. Sent exactly once for each turn.
 */
export interface TurnCompletedNotification {
  threadId: string;
  turn: Turn;
}
/**
 * All that the patches of the turn have changed so far.
 */
export interface TurnDiffUpdatedNotification {
  threadId: string;
  turnId: string;
  /**
   * Unified, in the form of git; empty where nothing has changed in the end.
   */
  diff: string;
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
/**
 * The model failed. With willRetry it is asked again; without, the turn fails.
 */
export interface ErrorNotification {
  error: TurnError;
  willRetry: boolean;
  threadId: string;
  turnId: string;
}

/** The requests that the server serves. */
export interface ClientRequests {
  'account/read': { params: GetAccountParams; result: GetAccountResponse };
  'accountSession/list': { params: AccountSessionsListParams; result: AccountSessionsResponse };
  'app/installed': { params: AppsInstalledParams; result: AppsInstalledResponse };
  'app/list': { params: AppsListParams; result: AppsListResponse };
  'command/exec': { params: CommandExecParams; result: CommandExecResponse };
  'command/exec/resize': { params: CommandExecResizeParams; result: CommandExecResizeResponse };
  'command/exec/terminate': { params: CommandExecTerminateParams; result: CommandExecTerminateResponse };
  'command/exec/write': { params: CommandExecWriteParams; result: CommandExecWriteResponse };
  'config/read': { params: ConfigReadParams; result: ConfigReadResponse };
  'configRequirements/read': { params: undefined; result: ConfigRequirementsReadResponse };
  'environment/status': { params: EnvironmentStatusParams; result: EnvironmentStatusResponse };
  'externalAgentConfig/detect': { params: ExternalAgentConfigDetectParams; result: ExternalAgentConfigDetectResponse };
  'externalAgentConfig/import/readHistories': { params: undefined; result: ExternalAgentConfigImportHistoriesReadResponse };
  'fs/copy': { params: FsCopyParams; result: FsCopyResponse };
  'fs/createDirectory': { params: FsCreateDirectoryParams; result: FsCreateDirectoryResponse };
  'fs/getMetadata': { params: FsGetMetadataParams; result: FsGetMetadataResponse };
  'fs/readDirectory': { params: FsReadDirectoryParams; result: FsReadDirectoryResponse };
  'fs/readFile': { params: FsReadFileParams; result: FsReadFileResponse };
  'fs/remove': { params: FsRemoveParams; result: FsRemoveResponse };
  'fs/unwatch': { params: FsUnwatchParams; result: FsUnwatchResponse };
  'fs/watch': { params: FsWatchParams; result: FsWatchResponse };
  'fs/writeFile': { params: FsWriteFileParams; result: FsWriteFileResponse };
  'initialize': { params: InitializeParams; result: InitializeResponse };
  'memory/status': { params: MemoryStatusParams; result: MemoryStatusResponse };
  'model/list': { params: ModelListParams; result: ModelListResponse };
  'modelProvider/list': { params: ModelProviderListParams; result: ModelProviderListResponse };
  'permissionProfile/list': { params: PermissionProfileListParams; result: PermissionProfileListResponse };
  'plugin/installed': { params: PluginInstalledParams; result: PluginInstalledResponse };
  'plugin/list': { params: PluginListParams; result: PluginListResponse };
  'plugin/search': { params: PluginSearchParams; result: PluginSearchResponse };
  'plugin/share/list': { params: PluginShareListParams; result: PluginShareListResponse };
  'process/kill': { params: ProcessKillParams; result: ProcessKillResponse };
  'process/resizePty': { params: ProcessResizePtyParams; result: ProcessResizePtyResponse };
  'process/spawn': { params: ProcessSpawnParams; result: ProcessSpawnResponse };
  'process/writeStdin': { params: ProcessWriteStdinParams; result: ProcessWriteStdinResponse };
  'remoteControl/client/list': { params: RemoteControlClientsListParams; result: RemoteControlClientsListResponse };
  'remoteControl/status/read': { params: undefined; result: RemoteControlStatusReadResponse };
  'server/diagnostics': { params: ServerDiagnosticsParams; result: ServerDiagnosticsResponse };
  'thread/archive': { params: ThreadArchiveParams; result: ThreadArchiveResponse };
  'thread/backgroundTerminals/clean': { params: ThreadBackgroundTerminalsCleanParams; result: ThreadBackgroundTerminalsCleanResponse };
  'thread/backgroundTerminals/list': { params: ThreadBackgroundTerminalsListParams; result: ThreadBackgroundTerminalsListResponse };
  'thread/backgroundTerminals/terminate': { params: ThreadBackgroundTerminalsTerminateParams; result: ThreadBackgroundTerminalsTerminateResponse };
  'thread/delete': { params: ThreadDeleteParams; result: ThreadDeleteResponse };
  'thread/fork': { params: ThreadForkParams; result: ThreadForkResponse };
  'thread/goal/clear': { params: ThreadGoalClearParams; result: ThreadGoalClearResponse };
  'thread/goal/get': { params: ThreadGoalGetParams; result: ThreadGoalGetResponse };
  'thread/goal/set': { params: ThreadGoalSetParams; result: ThreadGoalSetResponse };
  'thread/inject_items': { params: ThreadInjectItemsParams; result: ThreadInjectItemsResponse };
  'thread/items/list': { params: ThreadItemsListParams; result: ThreadItemsListResponse };
  'thread/items/read': { params: ThreadItemsReadParams; result: ThreadItemsReadResponse };
  'thread/list': { params: ThreadListParams; result: ThreadListResponse };
  'thread/loaded/list': { params: ThreadLoadedListParams; result: ThreadLoadedListResponse };
  'thread/memoryMode/set': { params: ThreadMemoryModeSetParams; result: ThreadMemoryModeSetResponse };
  'thread/metadata/update': { params: ThreadMetadataUpdateParams; result: ThreadMetadataUpdateResponse };
  'thread/name/set': { params: ThreadSetNameParams; result: ThreadSetNameResponse };
  'thread/read': { params: ThreadReadParams; result: ThreadReadResponse };
  'thread/realtime/listVoices': { params: ThreadRealtimeListVoicesParams; result: ThreadRealtimeListVoicesResponse };
  'thread/resume': { params: ThreadResumeParams; result: ThreadResumeResponse };
  'thread/revert': { params: ThreadRevertParams; result: ThreadRevertResponse };
  'thread/rollback': { params: ThreadRollbackParams; result: ThreadRollbackResponse };
  'thread/settings/update': { params: ThreadSettingsUpdateParams; result: ThreadSettingsUpdateResponse };
  'thread/shellCommand': { params: ThreadShellCommandParams; result: ThreadShellCommandResponse };
  'thread/start': { params: ThreadStartParams; result: ThreadStartResponse };
  'thread/turns/items/list': { params: ThreadTurnsItemsListParams; result: ThreadTurnsItemsListResponse };
  'thread/turns/list': { params: ThreadTurnsListParams; result: ThreadTurnsListResponse };
  'thread/unarchive': { params: ThreadUnarchiveParams; result: ThreadUnarchiveResponse };
  'thread/unsubscribe': { params: ThreadUnsubscribeParams; result: ThreadUnsubscribeResponse };
  'turn/interrupt': { params: TurnInterruptParams; result: TurnInterruptResponse };
  'turn/settings/update': { params: TurnSettingsUpdateParams; result: TurnSettingsUpdateResponse };
  'turn/start': { params: TurnStartParams; result: TurnStartResponse };
  'turn/steer': { params: TurnSteerParams; result: TurnSteerResponse };
}

/** The requests that the server sends. */
export interface ServerRequests {
  'item/commandExecution/requestApproval': { params: CommandExecutionRequestApprovalParams; result: CommandExecutionRequestApprovalResponse };
  'item/fileChange/requestApproval': { params: FileChangeRequestApprovalParams; result: FileChangeRequestApprovalResponse };
  'item/permissions/requestApproval': { params: PermissionsRequestApprovalParams; result: PermissionsRequestApprovalResponse };
  'item/tool/requestUserInput': { params: ToolRequestUserInputParams; result: ToolRequestUserInputResponse };
}

/** The notifications that the server sends, by their params. */
export interface ServerNotifications {
  'command/exec/outputDelta': CommandExecOutputDeltaNotification;
  'configWarning': ConfigWarningNotification;
  'deprecationNotice': DeprecationNoticeNotification;
  'error': ErrorNotification;
  'fs/changed': FsChangedNotification;
  'item/agentMessage/delta': AgentMessageDeltaNotification;
  'item/commandExecution/outputDelta': CommandExecutionOutputDeltaNotification;
  'item/commandExecution/terminalInteraction': TerminalInteractionNotification;
  'item/completed': ItemCompletedNotification;
  'item/fileChange/outputDelta': FileChangeOutputDeltaNotification;
  'item/fileChange/patchUpdated': FileChangePatchUpdatedNotification;
  'item/plan/delta': PlanDeltaNotification;
  'item/reasoning/summaryPartAdded': ReasoningSummaryPartAddedNotification;
  'item/reasoning/summaryTextDelta': ReasoningSummaryTextDeltaNotification;
  'item/reasoning/textDelta': ReasoningTextDeltaNotification;
  'item/started': ItemStartedNotification;
  'model/rerouted': ModelReroutedNotification;
  'process/exited': ProcessExitedNotification;
  'process/outputDelta': ProcessOutputDeltaNotification;
  'serverRequest/resolved': ServerRequestResolvedNotification;
  'thread/archived': ThreadArchivedNotification;
  'thread/closed': ThreadClosedNotification;
  'thread/deleted': ThreadDeletedNotification;
  'thread/goal/cleared': ThreadGoalClearedNotification;
  'thread/goal/updated': ThreadGoalUpdatedNotification;
  'thread/name/updated': ThreadNameUpdatedNotification;
  'thread/reverted': ThreadRevertedNotification;
  'thread/settings/updated': ThreadSettingsUpdatedNotification;
  'thread/started': ThreadStartedNotification;
  'thread/status/changed': ThreadStatusChangedNotification;
  'thread/tokenUsage/updated': ThreadTokenUsageUpdatedNotification;
  'thread/unarchived': ThreadUnarchivedNotification;
  'turn/completed': TurnCompletedNotification;
  'turn/diff/updated': TurnDiffUpdatedNotification;
  'turn/plan/updated': TurnPlanUpdatedNotification;
  'turn/started': TurnStartedNotification;
  'warning': WarningNotification;
}

/** The notifications that the server knows, by their params. */
export interface ClientNotifications {
  'initialized': undefined;
}
