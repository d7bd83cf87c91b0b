import { expect, test } from 'vitest';
import type { CommandExecParams } from '../../src/protocol/generated/types.ts';
import type { TestServer } from '../support/test-server.ts';
import { commandServer, completed, done, FREE_CONFIG, runs, THREAD } from './command-server.ts';

const SHOWS = 'echo "$CODEX_SANDBOX,$CODEX_SANDBOX_NETWORK_DISABLED$CODEX_NETWORK_PROXY_ACTIVE"';
const NONE = ',\n';
const BUBBLEWRAP = 'bubblewrap,\n';
const WITHOUT_NETWORK = 'bubblewrap,1\n';

/** Wrong values, in the server's own environment and in the configuration. */
const UNTRUE = {
  CODEX_SANDBOX: 'other',
  CODEX_SANDBOX_NETWORK_DISABLED: '0',
  CODEX_NETWORK_PROXY_ACTIVE: '1',
};
const CONFIG = `${FREE_CONFIG}[shell_environment_policy]\nset = { CODEX_SANDBOX = "set", CODEX_SANDBOX_NETWORK_DISABLED = "set" }\n`;
const SOURCES: [string, { config: string; env?: Record<string, string> }][] = [
  ['nothing', { config: FREE_CONFIG }],
  ["the server's environment", { config: FREE_CONFIG, env: UNTRUE }],
  ['shell_environment_policy', { config: CONFIG }],
];

/** Returns the output of a command of the model under this policy. */
async function commandOutput(
  server: TestServer,
  sandboxPolicy: CommandExecParams['sandboxPolicy'],
): Promise<string | null | undefined> {
  server.model.push(runs(SHOWS, {}, `call_${completed(server).length}`), done);
  await server.client.turn(THREAD, 'go', { sandboxPolicy: sandboxPolicy ?? null });
  return completed(server).at(-1)?.aggregatedOutput;
}

test.each(SOURCES)(
  'commands of the model get the variables that describe their own sandbox, whatever comes from %s',
  async (_name, options) => {
    const server = await commandServer([], options);
    expect(await commandOutput(server, { type: 'workspaceWrite' })).toBe(WITHOUT_NETWORK);
    expect(await commandOutput(server, { type: 'readOnly' })).toBe(WITHOUT_NETWORK);
    expect(await commandOutput(server, { type: 'workspaceWrite', networkAccess: true })).toBe(
      BUBBLEWRAP,
    );
    expect(await commandOutput(server, { type: 'dangerFullAccess' })).toBe(NONE);
    expect(await commandOutput(server, { type: 'externalSandbox' })).toBe(NONE);
  },
);

test.each(SOURCES)(
  'clients cannot change the variables that describe the sandbox of what they run, whatever comes from %s',
  async (_name, options) => {
    const server = await commandServer([], options);
    const { client, cwd } = server;
    const run = async (
      sandboxPolicy: CommandExecParams['sandboxPolicy'],
      more: Partial<CommandExecParams> = {},
    ) =>
      (
        await client.request('command/exec', {
          command: ['sh', '-c', SHOWS],
          sandboxPolicy: sandboxPolicy ?? null,
          ...more,
        })
      ).stdout;
    for (const [index, env] of [
      {},
      UNTRUE,
      { CODEX_SANDBOX: null, CODEX_SANDBOX_NETWORK_DISABLED: null },
    ].entries()) {
      expect(await run({ type: 'readOnly' }, { env })).toBe(WITHOUT_NETWORK);
      expect(await run({ type: 'workspaceWrite', networkAccess: true }, { env })).toBe(BUBBLEWRAP);
      expect(await run({ type: 'dangerFullAccess' }, { env })).toBe(NONE);
      const processHandle = `p${index}`;
      await client.request('process/spawn', {
        processHandle,
        command: ['sh', '-c', SHOWS],
        cwd,
        env,
      });
      expect(
        (await client.waitFor('process/exited', (end) => end.processHandle === processHandle))
          .stdout,
      ).toBe(NONE);
    }
    expect(await run({ type: 'readOnly' }, { tty: true, processId: 'p' })).toBe('');
    const told = client
      .notifications('command/exec/outputDelta')
      .map(({ deltaBase64 }) => Buffer.from(deltaBase64, 'base64').toString());
    expect(told.join('').trim()).toBe(WITHOUT_NETWORK.trim());
    await client.request('thread/shellCommand', { threadId: THREAD, command: SHOWS });
    await client.waitFor('turn/completed');
    expect(completed(server)[0]?.aggregatedOutput).toBe(NONE);
  },
);
