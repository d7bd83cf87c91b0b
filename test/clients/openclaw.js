// OpenClaw with its plugin for app-servers: turns, approvals, an abort and a resume in another
// app-server, through a Gateway on loopback.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { approvalPrompt, packageFile, runPrompt, untilExists } from './scripted.js';

const { CLIENT_PACKAGES, CODEX, CODEX_HOME, HOME } = process.env;
const TOKEN = 'of-this-test';
const SESSION = 'agent:main:test';

/** The Gateway's home: the one in which the plugin was installed, with its own configuration. */
async function configure() {
  const state = join(HOME, '.openclaw');
  cpSync(join(CLIENT_PACKAGES, 'home', '.openclaw', 'state'), join(state, 'state'), {
    recursive: true,
  });
  // It names the provider of OpenAI for every model.
  writeFileSync(
    join(CODEX_HOME, 'config.toml'),
    'model_provider = "scripted"\n[model_providers.openai]\nwire_api = "scripted"\n',
  );
  const port = await freePort();
  const appServer = {
    command: CODEX,
    homeScope: 'user',
    approvalPolicy: 'on-request',
    sandbox: 'workspace-write',
  };
  const model = 'openai/scripted';
  const defaults = {
    model,
    models: { [model]: { agentRuntime: { id: 'codex' } } },
    workspace: process.cwd(),
    skipBootstrap: true,
  };
  const config = {
    gateway: { mode: 'local', port, bind: 'loopback', auth: { mode: 'token', token: TOKEN } },
    plugins: {
      allow: ['codex', 'openai'],
      entries: { codex: { enabled: true, config: { appServer } } },
    },
    agents: { defaults },
    logging: { file: join(HOME, 'openclaw.log') },
  };
  writeFileSync(join(state, 'openclaw.json'), JSON.stringify(config));
  return port;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a Gateway. `ready` resolves when it takes requests; `close` ends it. */
function startGateway() {
  const env = { ...process.env, OPENCLAW_SKIP_CHANNELS: '1', OPENCLAW_NO_AUTO_UPDATE: '1' };
  const args = [packageFile('openclaw', 'openclaw.mjs'), 'gateway', 'run'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const ready = new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (part) => {
      process.stderr.write(part);
      output += String(part);
      if (/\[gateway\] ready/.test(output)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`the Gateway has exited with ${code}`)));
  });
  const close = async () => {
    child.kill('SIGTERM');
    await exit;
  };
  return { ready, close };
}

/** Connects as an operator, who allows commands with yes.txt and denies others. */
async function connect(port) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  const asked = [];
  const waiting = new Map();
  let ids = 0;
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      ids += 1;
      waiting.set(String(ids), { resolve, reject });
      socket.send(JSON.stringify({ type: 'req', id: String(ids), method, params }));
    });
  const decide = ({ id, request: { description } }) => {
    asked.push(description);
    return request('plugin.approval.resolve', {
      id,
      decision: description.includes('yes.txt') ? 'allow-once' : 'deny',
    });
  };
  const finish = ({ id, ok, payload, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (ok) resolve(payload);
    else reject(Object.assign(new Error(error.message), { retryable: error.retryable }));
  };
  const challenged = new Promise((resolve, reject) => {
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.event === 'connect.challenge') resolve();
      if (message.event === 'plugin.approval.requested') void decide(message.payload);
      // A run is first accepted, and answered at its end.
      if (message.type === 'res' && message.payload?.status !== 'accepted') finish(message);
    };
    // On a busy machine, the Gateway closes connections that it could not answer in time.
    socket.onclose = () => {
      const error = Object.assign(new Error('the Gateway has closed the connection'), {
        retryable: true,
      });
      for (const { reject: refuse } of [...waiting.values(), { reject }]) refuse(error);
    };
  });
  await challenged;
  const client = {
    id: 'gateway-client',
    version: '1',
    platform: process.platform,
    mode: 'backend',
  };
  const scopes = ['operator.admin', 'operator.read', 'operator.write', 'operator.approvals'];
  const own = {
    role: 'operator',
    scopes,
    caps: ['approvals', 'plugin-approvals'],
    auth: { token: TOKEN },
  };
  await request('connect', { minProtocol: 4, maxProtocol: 4, client, ...own });
  return { request, asked, close: () => socket.close() };
}

/** The Gateway refuses and closes connections for some time after it is ready. */
async function open(port) {
  const gateway = startGateway();
  await gateway.ready;
  for (;;) {
    try {
      const operator = await connect(port);
      const close = () => {
        operator.close();
        return gateway.close();
      };
      return { operator, close };
    } catch (error) {
      if (!error.retryable) throw error;
      await wait(200);
    }
  }
}

/** The pid of the app-server that the Gateway has started. */
function serverPid() {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,args='], {
    encoding: 'utf8',
    maxBuffer: 16 << 20,
  }).split('\n');
  const [pid, ...others] = lines
    .filter((line) => line.includes(`${CODEX} app-server`))
    .map((line) => Number.parseInt(line, 10));
  assert.deepEqual(others, []);
  return pid;
}

let runs = 0;

function start({ request }, message) {
  runs += 1;
  const runId = `run-${process.pid}-${runs}`;
  return {
    runId,
    ended: request('agent', { message, sessionKey: SESSION, idempotencyKey: runId }),
  };
}

async function run(operator, message) {
  const { status, result } = await start(operator, message).ended;
  assert.equal(status, 'ok');
  return { text: result.payloads.map(({ text }) => text).join(''), meta: result.meta.agentMeta };
}

mkdirSync(join(HOME, '.openclaw'));
const port = await configure();
const { operator, close } = await open(port);
const { text, meta } = await run(operator, 'say Good morning.');
assert.equal(text, 'Good morning.');
assert.equal(meta.agentHarnessId, 'codex');
assert.ok(meta.usage.input > 0 && meta.usage.output > 0);
await run(operator, approvalPrompt('echo done > yes.txt'));
assert.equal(readFileSync('yes.txt', 'utf8'), 'done\n');
assert.match((await run(operator, approvalPrompt('echo done > no.txt'))).text, /declined/);
assert.equal(existsSync('no.txt'), false);
assert.equal(operator.asked.length, 2);

const waiting = start(operator, runPrompt('echo begun > begun.txt; sleep 100'));
await untilExists('begun.txt');
const { abortedRunId } = await operator.request('sessions.abort', {
  key: SESSION,
  runId: waiting.runId,
});
assert.equal(abortedRunId, waiting.runId);
assert.equal((await waiting.ended).summary, 'aborted');
assert.equal((await run(operator, 'say After it.')).text, 'After it.');
// It starts another process for the same thread.
process.kill(serverPid());
assert.equal((await run(operator, 'say Again.')).text, 'Again.');
await close();
