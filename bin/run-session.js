const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { writeFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { join } = require('node:path');
const { createInterface } = require('node:readline');

const SESSION_MS_MAX = 30_000;

const MESSAGE = {
  type: 'message',
  role: 'assistant',
  id: 'msg_1',
  content: [{ type: 'output_text', text: 'Done.' }],
};
const USAGE = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
/** The model's text in the turn. */
const EVENTS = [
  { type: 'response.created', response: { id: 'resp_1' } },
  { type: 'response.output_item.added', output_index: 0, item: { ...MESSAGE, content: [] } },
  {
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    delta: 'Done.',
  },
  { type: 'response.output_item.done', output_index: 0, item: MESSAGE },
  { type: 'response.completed', response: { id: 'resp_1', usage: USAGE } },
];

/**
 * Runs a script that serves, in a home, as a client with one short turn would use it. Resolves when
 * it has ended.
 */
async function runSession(script, home) {
  const provider = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(EVENTS.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    });
  });
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const table = `[model_providers.build]\nname = "build"\nbase_url = "http://127.0.0.1:${provider.address().port}/v1"`;
  writeFileSync(join(home, 'config.toml'), `model = "build"\nmodel_provider = "build"\n${table}\n`);
  const env = { PATH: process.env.PATH, HEDDLE_HOME: home };
  const server = spawn(process.execPath, [script], {
    cwd: home,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: SESSION_MS_MAX,
  });
  const ended = once(server, 'close');
  await talk(server);
  await ended;
  provider.closeAllConnections();
  provider.close();
}

/**
 * Sends each request when the one before is answered, and ends the input after the turn, or after
 * an error.
 */
async function talk({ stdin, stdout }) {
  const send = (message) => stdin.write(`${JSON.stringify(message)}\n`);
  send({
    id: 'initialize',
    method: 'initialize',
    params: { clientInfo: { name: 'build', version: '1' } },
  });
  const next = {
    initialize: () => send({ id: 'list', method: 'thread/list', params: {} }),
    list: () => send({ id: 'thread', method: 'thread/start', params: {} }),
    thread: ({ thread }) =>
      send({
        id: 'turn',
        method: 'turn/start',
        params: { threadId: thread.id, input: [{ type: 'text', text: 'Begin.' }] },
      }),
  };
  for await (const line of createInterface({ input: stdout })) {
    const { id, result, error, method } = JSON.parse(line);
    if (error !== undefined || method === 'turn/completed') stdin.end();
    else if (id !== undefined) next[id]?.(result);
  }
}

module.exports = { runSession };
