// The minimum that a Node program must do for a turn over a pipe: it sends the model request and
// forwards the stream. It validates nothing, stores nothing, runs the model's commands without any
// check and handles no errors. The additional time that a server takes is the cost of its features.
import { execFile } from 'node:child_process';
import { Agent, request } from 'node:http';

const modelUrl = process.env.BENCH_MODEL_URL;
const agent = new Agent({ keepAlive: true });
const threads = new Map();
let ids = 0;
let output = '';

function send(message) {
  if (output === '') {
    setImmediate(() => {
      process.stdout.write(output);
      output = '';
    });
  }
  output += `${JSON.stringify(message)}\n`;
}

function newId() {
  return `00000000-0000-7000-8000-${String(++ids).padStart(12, '0')}`;
}

function runTurn(thread, turnId, input) {
  const common = { threadId: thread.id, turnId };
  const calls = [];
  const tellWhole = (item) => {
    send({ method: 'item/started', params: { ...common, item } });
    send({ method: 'item/completed', params: { ...common, item } });
  };
  send({
    method: 'turn/started',
    params: {
      threadId: thread.id,
      turn: { id: turnId, items: [], status: 'inProgress', error: null },
    },
  });
  tellWhole({ type: 'userMessage', id: newId(), content: input });
  thread.input.push({
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: input[0].text }],
  });
  const onEvent = (event) => {
    if (event.type === 'response.output_text.delta') {
      send({
        method: 'item/agentMessage/delta',
        params: { ...common, itemId: event.item_id, delta: event.delta },
      });
    } else if (event.type === 'response.output_item.done') {
      thread.input.push(event.item);
      if (event.item.type === 'function_call') calls.push(event.item);
      else tellWhole({ type: 'agentMessage', id: event.item.id, text: event.item.content[0].text });
    }
  };
  const onEnd = () => {
    const call = calls.shift();
    if (call === undefined) return end();
    const { cmd } = JSON.parse(call.arguments);
    execFile('bash', ['-lc', cmd], { cwd: thread.cwd }, (_error, output) => {
      tellWhole({
        type: 'commandExecution',
        id: call.call_id,
        command: cmd,
        aggregatedOutput: output,
      });
      thread.input.push({ type: 'function_call_output', call_id: call.call_id, output });
      ask();
    });
  };
  const end = () =>
    send({
      method: 'turn/completed',
      params: {
        threadId: thread.id,
        turn: { id: turnId, items: [], status: 'completed', error: null },
      },
    });
  const ask = () =>
    stream(JSON.stringify({ model: 'bench', stream: true, input: thread.input }), onEvent, onEnd);
  ask();
}

function stream(body, onEvent, onEnd) {
  const call = request(
    `${modelUrl}/responses`,
    { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
    (response) => {
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (text) => {
        const blocks = (rest + text).split('\n\n');
        rest = blocks.pop();
        for (const block of blocks) onEvent(JSON.parse(block.slice(block.indexOf('data: ') + 6)));
      });
      response.on('end', onEnd);
    },
  );
  call.end(body);
}

const methods = {
  initialize: () => ({ userAgent: 'floor' }),
  'thread/start': ({ cwd }) => {
    const thread = { id: newId(), cwd, input: [] };
    threads.set(thread.id, thread);
    return { thread: { id: thread.id, cwd, turns: [] } };
  },
  'thread/read': ({ threadId }) => ({
    thread: { id: threadId, cwd: threads.get(threadId).cwd, turns: [] },
  }),
  'thread/loaded/list': () => ({ data: [...threads.keys()], nextCursor: null }),
  'turn/start': ({ threadId, input }) => {
    const turnId = newId();
    setImmediate(() => runTurn(threads.get(threadId), turnId, input));
    return { turn: { id: turnId, items: [], status: 'inProgress', error: null } };
  },
};

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined) send({ id, result: methods[method](params) });
  }
});
process.stdin.on('end', () => process.exit(0));
