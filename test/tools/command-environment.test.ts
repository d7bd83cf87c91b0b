import { expect, test } from 'vitest';
import { commandServer, completed, done, FREE_CONFIG, runs, THREAD } from './command-server.ts';

const KEYS = `${FREE_CONFIG}env_key = "PROVIDER_VARIABLE"\nenv_http_headers = { "X-A" = "HEADER_VARIABLE" }\n`;
const ENV = { PROVIDER_VARIABLE: 'p', HEADER_VARIABLE: 'h', GITHUB_TOKEN: 't', PLAIN: 'plain' };

test('a command gets no variables that look secret, and the model is told their names', async () => {
  const server = await commandServer(
    [runs('echo "$PROVIDER_VARIABLE$HEADER_VARIABLE$GITHUB_TOKEN$PLAIN"'), done],
    {
      config: KEYS,
      env: ENV,
    },
  );
  await server.client.turn(THREAD, 'go');
  expect(completed(server)[0]?.aggregatedOutput).toBe('plain\n');
  expect(JSON.stringify(server.model.request(1).input)).toContain(
    '<not_in_the_environment_of_commands>GITHUB_TOKEN, HEADER_VARIABLE, PROVIDER_VARIABLE</not_in_the_environment_of_commands>',
  );
});

test('a command gets no key of a provider under whatever name, and no value that looks secret; the model is told the names', async () => {
  const config = `${KEYS}http_headers = { "X-Key" = "Bearer header-key" }\n`;
  const env = {
    ...{
      PROVIDER_VARIABLE: 'provider-key',
      COPY: 'provider-key',
      ANOTHER: 'x header-key y',
      MYSQL_PWD: 'm',
      PLAIN: 'plain',
    },
    HTTPS_PROXY: 'http://me:hunter2@proxy.example:3128',
  };
  const script = 'echo "$PROVIDER_VARIABLE$COPY$ANOTHER$MYSQL_PWD$HTTPS_PROXY$PLAIN"';
  const server = await commandServer([runs(script), done], { config, env });
  await server.client.turn(THREAD, 'go');
  expect(completed(server)[0]?.aggregatedOutput).toBe('plain\n');
  expect(JSON.stringify(server.model.request(1).input)).toContain(
    '<not_in_the_environment_of_commands>ANOTHER, COPY, HTTPS_PROXY, MYSQL_PWD, PROVIDER_VARIABLE</not_in_the_environment_of_commands>',
  );
});

test('shell_environment_policy sets the environment of commands, secrets included', async () => {
  const config = `${KEYS}[shell_environment_policy]\nignore_default_excludes = true\nexclude = ["PLAIN"]\nset = { TERM = "vt100" }\n`;
  const server = await commandServer(
    [runs('echo "$PROVIDER_VARIABLE-$GITHUB_TOKEN-$PLAIN-$TERM"'), done],
    { config, env: ENV },
  );
  await server.client.turn(THREAD, 'go');
  expect(completed(server)[0]?.aggregatedOutput).toBe('-t--vt100\n');
});

test.each([
  ['inherit', 'some'],
  ['set', { A: 1 }],
  ['set', { 'A=B': 'x' }],
  ['exclude', 'A'],
])('a policy that is wrong refuses its thread: %s %j', async (name, value) => {
  const server = await commandServer([]);
  const key = `shell_environment_policy.${name}`;
  const refused = await server.client.refusal('thread/start', { config: { [key]: value } });
  expect(refused).toMatchObject({
    code: -32600,
    message: expect.stringContaining(key),
    data: { code: 'config_invalid' },
  });
});

test('a relative TMPDIR is not writable, and commands still run', async () => {
  const server = await commandServer([runs('echo hi'), done], {
    config: FREE_CONFIG.replace('danger-full-access', 'workspace-write'),
    env: { TMPDIR: 'tmp' },
  });
  await server.client.turn(THREAD, 'go');
  expect(completed(server)).toMatchObject([{ status: 'completed', aggregatedOutput: 'hi\n' }]);
});
