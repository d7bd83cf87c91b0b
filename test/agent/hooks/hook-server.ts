import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { AsideCall } from '../../../src/agent/mcp/call-aside.ts';
import { McpTools } from '../../../src/agent/mcp/mcp-tools.ts';
import type { JsonObject } from '../../../src/base/json-value.ts';
import type { HookRunSummary, ResponseItem } from '../../../src/protocol/generated/types.ts';
import { idOf } from '../../support/counting-ids.ts';
import { type ScriptedResponse, TestModel } from '../../support/test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from '../../support/test-server.ts';
import { FREE_CONFIG } from '../../tools/command-server.ts';

export const THREAD = idOf(1);

/** A hook that runs a command. */
export interface CommandHook {
  matcher?: string;
  command: string;
  timeout?: number;
  async?: boolean;
}

/** The text of a hooks.json with one group for each hook. */
export function hooksJson(hooks: Record<string, (CommandHook | JsonObject)[]>): string {
  const groups = Object.entries(hooks).map(([event, handlers]) => [
    event,
    handlers.map(({ matcher, ...handler }) => ({
      ...(matcher === undefined ? {} : { matcher }),
      hooks: [{ type: 'command', ...handler }],
    })),
  ]);
  return JSON.stringify({ hooks: Object.fromEntries(groups) });
}

/**
 * A server whose home has these hooks, with a thread whose commands run without approval and
 * without a sandbox.
 */
export async function hookServer(
  hooks: Record<string, (CommandHook | JsonObject)[]>,
  responses: ScriptedResponse[],
  options: TestServerOptions = {},
): Promise<TestServer> {
  const files = { 'home/hooks.json': hooksJson(hooks), ...options.files };
  const server = await startServer({
    config: FREE_CONFIG,
    model: new TestModel(...responses),
    ...options,
    files,
  });
  await server.client.request('thread/start', {});
  return server;
}

/**
 * A command that keeps the input of the hook in a file beside the working directory, and then
 * prints an answer.
 */
export function keeps(file: string, answer: object | string = ''): string {
  return `cat >> ../${file}; ${prints(answer)}`;
}

/** A command that prints an answer. */
export function prints(answer: object | string): string {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return `printf %s '${text.replaceAll("'", `'\\''`)}'`;
}

/** The inputs that hooks have kept in a file. */
export function kept({ folder }: TestServer, file: string): JsonObject[] {
  const text = readFileSync(join(folder, file), 'utf8');
  return JSON.parse(`[${text.replaceAll('}{', '},{')}]`) as JsonObject[];
}

/** The runs of hooks that have ended. */
export function ended({ client }: TestServer): HookRunSummary[] {
  return client.notifications('hook/completed').map(({ run }) => run);
}

/**
 * The texts and outputs in the model's request with this number, without the context of the thread.
 */
export function modelInput({ model }: TestServer, request: number): unknown[] {
  return model.request(request).input.flatMap((item) => {
    const text = itemText(item);
    return text === null || /^Permissions|<environment_context>/.test(text) ? [] : [text];
  });
}

function itemText(item: ResponseItem): string | null {
  if (item.type === 'message')
    return `${item.role}: ${item.content.map((part) => ('text' in part ? part.text : '')).join('')}`.replace(
      /^(developer|user): (Permissions|<environment_context>)/,
      '$2',
    );
  return 'output' in item && typeof item.output === 'string' ? `output: ${item.output}` : null;
}

/**
 * Answers the calls of MCP tools by hooks in the running test. Null: there is no such server, as
 * the server itself finds.
 */
export function answerMcpCalls(answer: (call: AsideCall) => Promise<string> | null): void {
  const real = McpTools.prototype.callAside;
  const spy = vi.spyOn(McpTools.prototype, 'callAside').mockImplementation(function (
    this: McpTools,
    call,
    signal,
  ) {
    return answer(call) ?? real.call(this, call, signal);
  });
  onTestFinished(() => spy.mockRestore());
}
