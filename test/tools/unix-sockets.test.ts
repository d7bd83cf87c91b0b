import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SandboxPolicy } from '../../src/protocol/generated/types.ts';
import { tempFolder } from '../config/temp-folder.ts';
import type { TestServerOptions } from '../support/test-server.ts';
import { commandServer, completed, done, FREE_CONFIG, runs, THREAD } from './command-server.ts';

const CREATES = `python3 -c 'import socket; socket.socket(socket.AF_UNIX); print("created")' 2>&1 | tail -n 1`;
const CREATED = 'created\n';
const REFUSED = 'PermissionError: [Errno 1] Operation not permitted\n';

const WORKSPACE_WRITE = FREE_CONFIG.replace('"danger-full-access"', '"workspace-write"');
const ALLOWED = 'unix_sockets = true\n';
const sandbox = (settings: string) => `${WORKSPACE_WRITE}[sandbox_workspace_write]\n${settings}`;
const profile = (settings: string, base = ':workspace') =>
  `default_permissions = "p"\n${FREE_CONFIG.replace(/sandbox_mode.*\n/, '')}[permissions.p]\nextends = "${base}"\n[permissions.p.network]\n${settings}`;
const PROFILE_ALLOWED = 'dangerously_allow_all_unix_sockets = true\n';

/** The output of a command that creates a unix socket. */
async function outputOf(
  options: TestServerOptions,
  sandboxPolicy?: SandboxPolicy,
): Promise<string | null | undefined> {
  const server = await commandServer([runs(CREATES), done], options);
  await server.client.turn(THREAD, 'go', sandboxPolicy === undefined ? {} : { sandboxPolicy });
  return completed(server)[0]?.aggregatedOutput;
}

describe('commands of the model', () => {
  test.each([
    ['in a workspace-write sandbox', WORKSPACE_WRITE],
    ['with network access', sandbox('network_access = true\n')],
    ['with a permission profile that allows the network', profile('enabled = true\n')],
    [
      'with a permission profile, whatever [sandbox_workspace_write] says',
      `${profile('')}[sandbox_workspace_write]\n${ALLOWED}`,
    ],
    ['in a read-only sandbox', sandbox(ALLOWED).replace('"workspace-write"', '"read-only"')],
    ['with a read-only permission profile', profile(PROFILE_ALLOWED, ':read-only')],
  ])('cannot use unix sockets %s', async (_where, config) => {
    expect(await outputOf({ config })).toBe(REFUSED);
  });

  test.each([
    ['unix_sockets', sandbox(ALLOWED)],
    ['unix_sockets and the network', sandbox(`${ALLOWED}network_access = true\n`)],
    ['a permission profile', profile(PROFILE_ALLOWED)],
    ['a permission profile with the network', profile(`${PROFILE_ALLOWED}enabled = true\n`)],
    [
      'a profile that extends this profile',
      `${profile(PROFILE_ALLOWED)}[permissions.q]\nextends = "p"\n`.replace('"p"', '"q"'),
    ],
  ])('can use unix sockets if the configuration allows it: %s', async (_what, config) => {
    expect(await outputOf({ config })).toBe(CREATED);
  });

  test('follow the configuration if a client sends the sandbox policy', async () => {
    const policy: SandboxPolicy = { type: 'workspaceWrite', networkAccess: true };
    expect(await outputOf({ config: FREE_CONFIG }, policy)).toBe(REFUSED);
    expect(await outputOf({ config: sandbox(ALLOWED) }, policy)).toBe(CREATED);
    expect(
      await outputOf({ config: sandbox(ALLOWED) }, { type: 'readOnly', networkAccess: true }),
    ).toBe(REFUSED);
  });

  test('cannot use unix sockets because a project wants it', async () => {
    const folder = tempFolder();
    const config = `${WORKSPACE_WRITE}[projects."${join(folder, 'work')}"]\ntrust_level = "trusted"\n`;
    const project = { 'work/.codex/config.toml': `[sandbox_workspace_write]\n${ALLOWED}` };
    expect(await outputOf({ folder, config, files: project })).toBe(REFUSED);
  });

  test('are refused with their thread if the setting is invalid', async () => {
    const { client } = await commandServer([]);
    const config = { 'sandbox_workspace_write.unix_sockets': 'yes' };
    expect(await client.refusal('thread/start', { config })).toMatchObject({
      message: expect.stringMatching(
        /sandbox_workspace_write.unix_sockets .*: expected true or false/,
      ),
      data: { code: 'config_invalid' },
    });
  });
});
