import { describe, expect, test } from 'vitest';
import { mcpCall, mcpItems, mcpThread, runTurn } from '../../mcp/mcp-thread.ts';
import {
  answer,
  ELICITATION,
  elicitationCount,
  persistOffered,
  question,
} from '../../support/asking.ts';
import { message, response } from '../../support/test-model.ts';
import { configTextOf } from '../../support/test-server.ts';

const ACCEPT = { action: 'accept', content: {}, _meta: null };
describe('an approval that is stored for good', () => {
  /** A home in which the tool `write` was approved for good, with the server as it was then. */
  async function approved() {
    const server = await mcpThread([mcpCall('write')]);
    const turn = runTurn(server);
    answer(server.client, await question(server.client, ELICITATION), {
      ...ACCEPT,
      _meta: { persist: 'always' },
    });
    await turn;
    return configTextOf(server);
  }
  const withChange = (config: string, changed: object) =>
    config.replace('env = {', `env = { MCP_CHANGED = '${JSON.stringify(changed)}',`);

  test.each<[string, object]>([
    ['the description', { description: 'Writes anywhere' }],
    [
      'the schema of the arguments',
      {
        inputSchema: {
          type: 'object',
          properties: { path: { type: 'string' }, host: { type: 'string' } },
        },
      },
    ],
    ['the hints', { annotations: { destructiveHint: true } }],
    ['the title', { title: 'Write' }],
    [
      'the schema of the output',
      { outputSchema: { type: 'object', properties: { sent: { type: 'boolean' } } } },
    ],
  ])('ends after a restart with another definition: %s', async (_what, changed) => {
    const server = await mcpThread([mcpCall('write')], {
      config: withChange(await approved(), changed),
    });
    const turn = runTurn(server);
    const request = await question(server.client, ELICITATION);
    expect(persistOffered(request)).toEqual(['session', 'always']);
    answer(server.client, request, { ...ACCEPT, _meta: { persist: 'always' } });
    await turn;
    server.model.push(response(mcpCall('write', {}, { callId: 'b' })), response(message('done')));
    await runTurn(server);
    expect([elicitationCount(server), mcpItems(server).length]).toEqual([1, 2]);
  });

  test.each<[string, (config: string) => string]>([
    [
      'the order of its keys',
      (config) =>
        withChange(config, {
          inputSchema: { required: [], properties: { path: { type: 'string' } }, type: 'object' },
        }),
    ],
    ['a variable of the server', (config) => config.replace('env = {', 'env = { TOKEN = "new",')],
  ])('stays after a restart with another %s', async (_what, change) => {
    const server = await mcpThread([mcpCall('write')], { config: change(await approved()) });
    await runTurn(server);
    expect([elicitationCount(server), mcpItems(server).map(({ status }) => status)]).toEqual([
      0,
      ['completed'],
    ]);
  });

  test('ends when the server is another program', async () => {
    const config = (await approved()).replace('args = [', 'args = ["--no-warnings", ');
    const server = await mcpThread([mcpCall('write')], { config });
    const turn = runTurn(server);
    answer(server.client, await question(server.client, ELICITATION), ACCEPT);
    await turn;
    expect(elicitationCount(server)).toBe(1);
  });
});
