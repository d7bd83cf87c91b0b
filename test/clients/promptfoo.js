// promptfoo with its provider for app-servers: an eval of its command line; turns, approvals, an
// abort, resume in another process.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { approvalPrompt, importFile, packageFile, runPrompt, untilExists } from './scripted.js';

const PROVIDER = 'openai:codex-app-server';
// Without these, promptfoo asks the network.
const OFFLINE = {
  PROMPTFOO_DISABLE_TELEMETRY: '1',
  PROMPTFOO_DISABLE_UPDATE: '1',
  PROMPTFOO_DISABLE_REMOTE_GENERATION: '1',
};
Object.assign(process.env, OFFLINE);

const { CODEX, CODEX_HOME } = process.env;
const config = {
  codex_path_override: CODEX,
  cli_env: { CODEX_HOME },
  working_dir: process.cwd(),
  skip_git_repo_check: true,
  sandbox_mode: 'workspace-write',
  approval_policy: 'on-request',
  ephemeral: false,
};

/** Runs the command line on two tests, of which the second one must fail. */
function evaluate() {
  const tests = [
    { vars: { prompt: 'say Good morning.' }, assert: [{ type: 'equals', value: 'Good morning.' }] },
    { vars: { prompt: 'say Good evening.' }, assert: [{ type: 'equals', value: 'Good morning.' }] },
  ];
  writeFileSync(
    'promptfooconfig.json',
    JSON.stringify({ prompts: ['{{prompt}}'], providers: [{ id: PROVIDER, config }], tests }),
  );
  const args = [
    'eval',
    '-c',
    'promptfooconfig.json',
    '-o',
    'results.json',
    '--no-cache',
    '--no-write',
    '--no-progress-bar',
  ];
  const entry = packageFile('promptfoo', 'dist', 'src', 'entrypoint.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [entry, ...args], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  // Its exit code for an eval with failed tests.
  assert.equal(status, 100, `${stdout}${stderr}`);
  return JSON.parse(readFileSync('results.json', 'utf8')).results;
}

const { stats, results } = evaluate();
assert.deepEqual([stats.successes, stats.failures, stats.errors], [1, 1, 0]);
assert.ok(stats.tokenUsage.prompt > 0 && stats.tokenUsage.completion > 0);
assert.deepEqual(results.map(({ response }) => response.output).sort(), [
  'Good evening.',
  'Good morning.',
]);

const { loadApiProvider } = await importFile('promptfoo', 'dist', 'src', 'index.js');

async function open(more = {}) {
  return loadApiProvider(PROVIDER, { options: { config: { ...config, ...more } } });
}

async function call(provider, prompt, options) {
  const context = { vars: {}, prompt: { raw: prompt, label: prompt } };
  return provider.callApi(prompt, context, options);
}

const commandsOf = ({ metadata }) =>
  metadata.codexAppServer.items
    .filter(({ type }) => type === 'commandExecution')
    .map(({ status, exitCode }) => [status, exitCode]);

const accepting = await open({ server_request_policy: { command_execution: 'accept' } });
const accepted = await call(accepting, approvalPrompt('echo done > yes.txt'));
assert.deepEqual(commandsOf(accepted), [['completed', 0]]);
assert.equal(readFileSync('yes.txt', 'utf8'), 'done\n');
const requests = accepted.metadata.codexAppServer.serverRequests;
assert.deepEqual(
  requests.map(({ method, response }) => [method, response]),
  [['item/commandExecution/requestApproval', { decision: 'accept' }]],
);
assert.ok(accepted.tokenUsage.total > 0);
await accepting.shutdown();

const declining = await open({ thread_id: accepted.sessionId });
const declined = await call(declining, approvalPrompt('echo done > no.txt'));
assert.equal(declined.sessionId, accepted.sessionId);
assert.deepEqual(commandsOf(declined), [['declined', null]]);
assert.equal(existsSync('no.txt'), false);

const controller = new AbortController();
const waiting = call(declining, runPrompt('echo begun > begun.txt; sleep 100'), {
  abortSignal: controller.signal,
});
await untilExists('begun.txt');
controller.abort();
assert.deepEqual(await waiting, { error: 'OpenAI Codex app-server call aborted' });
await declining.shutdown();

const resumed = await open({ thread_id: accepted.sessionId });
assert.equal((await call(resumed, 'say Again.')).output, 'Again.');
await resumed.shutdown();
