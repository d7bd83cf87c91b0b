import { expect } from 'vitest';
import type { ThreadItem } from '../../src/protocol/generated/types.ts';
import { idOf } from '../support/counting-ids.ts';
import {
  functionCall,
  message,
  response,
  type ScriptedResponse,
  TestModel,
} from '../support/test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from '../support/test-server.ts';

/** A configuration in which commands run without approval and without a sandbox. */
export const FREE_CONFIG = `model = "test-model"
model_provider = "test"
sandbox_mode = "danger-full-access"
approval_policy = "never"
[model_providers.test]
base_url = "http://127.0.0.1:9"
`;

export type CommandItem = Extract<ThreadItem, { type: 'commandExecution' }>;

/** A server with a thread whose model returns these responses. */
export async function commandServer(
  responses: ScriptedResponse[],
  options: TestServerOptions = {},
): Promise<TestServer> {
  const server = await startServer({
    config: FREE_CONFIG,
    model: new TestModel(...responses),
    ...options,
  });
  await server.client.request('thread/start', {});
  return server;
}

/** The id of the server's thread. */
export const THREAD = idOf(1);

/** A response that runs a command. */
export function runs(cmd: string, args: object = {}, callId = 'call_1'): ScriptedResponse {
  return response(functionCall('exec_command', { cmd, ...args }, { callId }));
}

/**
 * A response that writes to the latest session in the model's input. Empty `chars` only poll it.
 */
export function writes(chars: string, args: object = {}, callId = 'call_2'): ScriptedResponse {
  return (request) => {
    const told =
      JSON.stringify(request.input)
        .match(/session ID (\d+)/g)
        ?.at(-1) ?? '';
    return response(
      functionCall(
        'write_stdin',
        { session_id: Number(told.replace(/\D/g, '')), chars, ...args },
        { callId },
      ),
    );
  };
}

export const done: ScriptedResponse = response(message('done'));

/** The commands that have completed so far. */
export function completed({ client }: TestServer): CommandItem[] {
  return client
    .notifications('item/completed')
    .map(({ item }) => item)
    .filter((item): item is CommandItem => item.type === 'commandExecution');
}

/** The output of a call in the last model request. */
export function modelOutput({ model }: TestServer, callId = 'call_1'): string {
  const output = model
    .request(model.requests.length)
    .input.find((item) => item.type === 'function_call_output' && item.call_id === callId);
  if (output?.type !== 'function_call_output' || typeof output.output !== 'string')
    throw new Error(`the model read nothing of ${callId}`);
  return output.output;
}

/** Resolves when the commands have printed `text`. */
export async function says(server: TestServer, text: string): Promise<void> {
  const heard = () =>
    server.client.notifications('item/commandExecution/outputDelta').map(({ delta }) => delta);
  await server.client.waitFor('item/commandExecution/outputDelta', () =>
    heard().join('').includes(text),
  );
}

/** How long a command runs before its call returns with a session. */
export const YIELD_MS = 250;

/**
 * Runs a turn to its completion. Each time that the commands have printed the next of the texts,
 * the call that waits for them returns.
 */
export async function turnYielding(server: TestServer, yieldAfter: string[]): Promise<void> {
  const turn = server.client.turn(THREAD, 'go');
  for (const text of yieldAfter) {
    await says(server, text);
    await server.clock.timerOf(YIELD_MS);
    server.clock.advance(YIELD_MS);
  }
  expect(await turn).toMatchObject({ status: 'completed' });
}

/** The outputs of the calls in the last model request, without what precedes a command's own. */
export function modelOutputs({ model }: TestServer): string[] {
  const { input } = model.request(model.requests.length);
  return input.flatMap((item) =>
    item.type.endsWith('_output') && 'output' in item
      ? [String(item.output).replace(/^[\s\S]*?Output:\n/, '')]
      : [],
  );
}
