// The client under test: heddle itself, driven over its protocol. The suite appends the URL of the
// server. Logs in where the server asks for it, as a user with a browser would, lists the tools,
// and calls each of them.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const root = dirname(dirname(import.meta.dirname));
const url = process.argv.at(-1) ?? '';
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
/** The most logins for one call. */
const LOGINS_MAX = 3;
const STEP_MS_MAX = 25_000;

const home = mkdtempSync(join(tmpdir(), 'heddle-mcp-'));
const open = new Map();
const listeners = new Set();
const notifications = [];
let count = 0;

const oauth = {
  ...(context.client_id === undefined
    ? {}
    : { client_id: context.client_id, client_secret_env_var: 'MCP_CLIENT_SECRET' }),
  ...(scenario === 'auth/basic-cimd'
    ? { client_metadata_url: 'https://conformance-test.local/client-metadata.json' }
    : {}),
};
writeFileSync(
  join(home, 'config.toml'),
  `model_provider = "scripted"
approval_policy = "on-request"
[mcp_servers.test]
url = ${JSON.stringify(url)}
[mcp_servers.test.oauth]
${Object.entries(oauth)
  .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  .join('\n')}
`,
);

const heddle = spawn(
  process.env.HEDDLE_NODE ?? 'node',
  [join(root, 'bin', 'heddle.js'), 'app-server'],
  {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, HEDDLE_HOME: home, MCP_CLIENT_SECRET: context.client_secret ?? '' },
  },
);
createInterface({ input: heddle.stdout }).on('line', (line) => receive(JSON.parse(line)));

function receive(message) {
  if (message.method !== undefined && message.id !== undefined) {
    // Forms are accepted as they are, with their defaults.
    send({ id: message.id, result: { action: 'accept', content: {}, _meta: null } });
  } else if (message.method !== undefined) {
    notifications.push(message);
    for (const listener of [...listeners]) listener(message);
  } else {
    const { resolve, reject } = open.get(message.id) ?? {};
    open.delete(message.id);
    if (message.error === undefined) resolve?.(message.result);
    else reject?.(Object.assign(new Error(message.error.message), message.error));
  }
}

function send(message) {
  heddle.stdin.write(`${JSON.stringify(message)}\n`);
}

function request(method, params) {
  const id = ++count;
  return new Promise((resolve, reject) => {
    open.set(id, { resolve, reject });
    send({ id, method, params });
  });
}

/** The next notification that fits, also one that has come since `since`. */
function next(method, fits, since) {
  return new Promise((resolve, reject) => {
    const check = (message) => {
      if (message.method !== method || !fits(message.params)) return;
      listeners.delete(check);
      clearTimeout(timer);
      resolve(message.params);
    };
    const timer = setTimeout(() => reject(new Error(`no ${method}`)), STEP_MS_MAX);
    listeners.add(check);
    for (const message of notifications.slice(since)) check(message);
  });
}

/** Logs in as a user would: the authorization server sends the browser back at once. */
async function logIn(threadId) {
  const since = notifications.length;
  const { authorizationUrl, loginId } = await request('mcpServer/oauth/login', {
    name: 'test',
    threadId,
  });
  const answer = await fetch(authorizationUrl, { redirect: 'manual' });
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`the authorization server answered with ${answer.status}`);
  const completed = next(
    'mcpServer/oauthLogin/completed',
    (params) => params.loginId === loginId,
    since,
  );
  await fetch(new URL(location, authorizationUrl));
  const { success, error } = await completed;
  if (!success) throw new Error(error);
}

function argumentsFor(schema) {
  const numbers = [5, 3];
  const example = ({ type, default: preset, enum: values, properties } = {}) => {
    if (preset !== undefined) return preset;
    if (values !== undefined) return values[0];
    if (type === 'number' || type === 'integer') return numbers.shift() ?? 1;
    if (type === 'boolean') return true;
    if (type === 'array') return [];
    return type === 'object' || properties !== undefined ? argumentsFor({ properties }) : 'test';
  };
  return Object.fromEntries(
    Object.entries(schema?.properties ?? {}).map(([name, property]) => [name, example(property)]),
  );
}

async function call(threadId, { name, arguments: args }) {
  for (let logins = 0; ; logins++) {
    try {
      return await request('mcpServer/tool/call', {
        threadId,
        server: 'test',
        tool: name,
        arguments: args,
      });
    } catch (error) {
      if (!/log in|login/i.test(error.message) || logins >= LOGINS_MAX) throw error;
      await logIn(threadId);
    }
  }
}

async function main() {
  await request('initialize', {
    clientInfo: { name: 'mcp-conformance', title: null, version: '1' },
    capabilities: { experimentalApi: true },
  });
  const { thread } = await request('thread/start', {});
  const isOver = ({ status }) => status === 'ready' || status === 'failed';
  let state = await next('mcpServer/startupStatus/updated', isOver, 0);
  for (
    let logins = 0;
    state.status === 'failed' &&
    state.failureReason === 'reauthenticationRequired' &&
    logins < LOGINS_MAX;
    logins++
  ) {
    const since = notifications.length;
    await logIn(thread.id);
    state = await next('mcpServer/startupStatus/updated', isOver, since);
  }
  if (state.status === 'failed') throw new Error(state.error);
  const { data } = await request('mcpServerStatus/list', { threadId: thread.id });
  const tools = Object.values(data[0]?.tools ?? {}).map(({ name, inputSchema }) => ({
    name,
    arguments: argumentsFor(inputSchema),
  }));
  for (const each of context.toolCalls ?? tools) {
    try {
      await call(thread.id, each);
    } catch (error) {
      process.stderr.write(`${each.name}: ${error.message}\n`);
    }
  }
}

let exitCode = 0;
try {
  await main();
} catch (error) {
  process.stderr.write(`${error.stack}\n`);
  exitCode = 1;
}
heddle.stdin.end();
await new Promise((resolve) => heddle.once('exit', resolve));
rmSync(home, { recursive: true, force: true });
process.exit(exitCode);
