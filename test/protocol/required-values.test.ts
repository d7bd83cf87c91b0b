import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requiredEnums } from './required-enums.ts';

/** For each type of the required schemas: the tests that name its values, each with its values. */
const TESTS: Record<string, Record<string, string>> = {
  ApprovalsReviewer: {
    'handlers/thread/thread-values.test.ts': 'user auto_review guardian_subagent',
  },
  AskForApproval: {
    'handlers/thread/thread-values.test.ts': 'untrusted on-failure on-request never',
  },
  CommandAction: { 'tools/command-items.test.ts': 'listFiles read search unknown' },
  CommandExecutionSource: {
    'tools/exec-command.test.ts': 'agent unifiedExecStartup',
    'handlers/thread/shell-command.test.ts': 'userShell',
  },
  CommandExecutionStatus: { 'tools/command-items.test.ts': 'inProgress completed failed declined' },
  ContentItem: { 'handlers/thread/history-values.test.ts': 'input_image input_text output_text' },
  DynamicToolCallOutputContentItem: { 'tools/client-tools.test.ts': 'inputImage inputText' },
  DynamicToolCallStatus: { 'tools/client-tools.test.ts': 'completed failed inProgress' },
  FunctionCallOutputContentItem: {
    'handlers/thread/history-values.test.ts': 'input_image input_text',
  },
  ImageDetail: {
    'handlers/thread/history-values.test.ts': 'auto low high original',
    'handlers/turn/input.test.ts': 'auto low high original',
  },
  LocalShellAction: { 'handlers/thread/history-values.test.ts': 'exec' },
  LocalShellStatus: {
    'handlers/thread/history-values.test.ts': 'completed in_progress incomplete',
  },
  MessagePhase: {
    'agent/items.test.ts': 'commentary final_answer',
    'handlers/thread/history-values.test.ts': 'commentary final_answer',
  },
  ModeKind: { 'agent/collaboration-modes.test.ts': 'plan default' },
  NetworkAccess: { 'handlers/turn/overrides.test.ts': 'restricted enabled' },
  PatchApplyStatus: { 'agent/apply-patch.test.ts': 'inProgress completed failed declined' },
  PatchChangeKind: { 'agent/apply-patch.test.ts': 'add delete update' },
  Personality: { 'handlers/turn/setting-values.test.ts': 'none friendly pragmatic' },
  ReadOnlyAccess: { 'handlers/turn/overrides.test.ts': 'fullAccess restricted' },
  ReasoningEffort: {
    'handlers/turn/setting-values.test.ts': 'none minimal low medium high xhigh max',
  },
  ReasoningItemContent: { 'handlers/thread/history-values.test.ts': 'reasoning_text text' },
  ReasoningItemReasoningSummary: { 'handlers/thread/history-values.test.ts': 'summary_text' },
  ReasoningSummary: { 'handlers/turn/setting-values.test.ts': 'auto concise detailed none' },
  ResponseItem: {
    'handlers/thread/history-values.test.ts':
      'compaction custom_tool_call custom_tool_call_output function_call function_call_output ghost_snapshot image_generation_call ' +
      'local_shell_call message other reasoning tool_search_call tool_search_output web_search_call',
  },
  McpToolCallStatus: { 'agent/mcp/mcp-turn.test.ts': 'completed failed inProgress' },
  ResponsesApiWebSearchAction: {
    'handlers/thread/history-values.test.ts': 'find_in_page open_page other search',
  },
  SandboxMode: {
    'handlers/thread/thread-values.test.ts': 'read-only workspace-write danger-full-access',
  },
  SandboxPolicy: {
    'handlers/turn/overrides.test.ts': 'dangerFullAccess externalSandbox readOnly workspaceWrite',
  },
  ServiceTier: { 'handlers/turn/setting-values.test.ts': 'fast flex' },
  ThreadItem: {
    'agent/compaction/compaction.test.ts': 'contextCompaction',
    'tools/client-tools.test.ts': 'dynamicToolCall',
    'agent/items.test.ts': 'imageGeneration reasoning webSearch',
    'agent/plan-mode.test.ts': 'plan userMessage agentMessage',
    'agent/apply-patch.test.ts': 'fileChange',
    'agent/hooks/turn-hooks.test.ts': 'hookPrompt',
    'agent/mcp/mcp-turn.test.ts': 'mcpToolCall',
    'handlers/review.test.ts': 'enteredReviewMode exitedReviewMode',
    'tools/command-items.test.ts': 'commandExecution',
    'tools/view-image.test.ts': 'imageView',
  },
  ThreadSource: { 'handlers/thread/thread-values.test.ts': 'user subagent memory_consolidation' },
  UserInput: { 'handlers/turn/input.test.ts': 'image localImage mention skill text' },
  WebSearchAction: { 'agent/items.test.ts': 'findInPage openPage other search' },
};

/** The values of items that only rollouts of other programs bring, and the test that reads them. */
const IMPORTED: Record<string, string> = {
  CommandExecutionSource: 'unifiedExecInteraction',
};

/**
 * The values of items about agents. `agent/sub-agents/agent-values.test.ts` compares the values
 * that clients see with the schema.
 */
const AGENTS: Record<string, string> = {
  CollabAgentStatus: 'completed errored interrupted notFound pendingInit running shutdown',
  CollabAgentTool: 'closeAgent resumeAgent sendInput spawnAgent wait',
  CollabAgentToolCallStatus: 'completed failed inProgress',
  ThreadItem: 'collabAgentToolCall',
};

const words = (text: string | undefined) => (text ?? '').split(' ').filter((word) => word !== '');

test('for every value of an enum in a required schema, there is a test, or a reason why there is none', () => {
  const missing: string[] = [];
  const left = new Set([...Object.keys(TESTS), ...Object.keys(IMPORTED), ...Object.keys(AGENTS)]);
  for (const [type, values] of requiredEnums()) {
    left.delete(type);
    const named = [...Object.values(TESTS[type] ?? {}), IMPORTED[type], AGENTS[type]].flatMap(
      words,
    );
    missing.push(
      ...values.filter((value) => !named.includes(value)).map((value) => `${type}: ${value}`),
    );
    missing.push(
      ...named
        .filter((value) => !values.includes(value))
        .map((value) => `${type}: ${value} is no value`),
    );
  }
  expect([missing, [...left]]).toEqual([[], []]);
});

test('each of these tests names its values', () => {
  const missing: string[] = [];
  for (const [type, files] of Object.entries(TESTS)) {
    for (const [file, values] of Object.entries(files)) {
      const source = readFileSync(join(import.meta.dirname, '..', file), 'utf8');
      const isNamed = (value: string) => new RegExp(`['"\`]${value}['"\`]`).test(source);
      missing.push(
        ...words(values).flatMap((value) =>
          isNamed(value) ? [] : [`${file} does not name ${type} ${value}`],
        ),
      );
    }
  }
  expect(missing).toEqual([]);
});
