// Stands in for a server that runs commands: in a turn it asks whether it may, and says what it was
// answered. Run as a process, it speaks the protocol on stdin and stdout.
import { createInterface } from 'node:readline';

const THREAD = '01900000-0000-7000-8000-000000000001';
const TURN = '01900000-0000-7000-8000-000000000002';
const NOW = 1_790_000_000;
const about = { threadId: THREAD, turnId: TURN };

/** The questions of a turn, and what each is about. */
const QUESTIONS = [
  {
    item: commandItem('command-1', 'npm test'),
    method: 'item/commandExecution/requestApproval',
    params: {
      command: 'npm test',
      cwd: '/project',
      reason: 'Runs outside the sandbox.',
      availableDecisions: ['accept', 'decline', 'cancel'],
    },
  },
  {
    item: {
      type: 'fileChange',
      id: 'change-1',
      changes: [{ path: '/project/a.txt', kind: { type: 'add' }, diff: 'one\n' }],
      status: 'inProgress',
    },
    method: 'item/fileChange/requestApproval',
    params: { reason: null, grantRoot: null },
  },
  // Answered by another client at once.
  {
    item: commandItem('command-2', 'make'),
    method: 'item/commandExecution/requestApproval',
    params: { command: 'make', cwd: '/project', reason: null, availableDecisions: null },
    resolves: true,
  },
];

const answers = [];

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, result, error } = JSON.parse(line);
  if (method === 'initialize')
    send({ id, result: { serverInfo: { name: 'asking', version: '1.0.0' } } });
  else if (method === 'thread/start') send({ id, result: { thread: { id: THREAD } } });
  else if (method === 'turn/start') {
    send({ id, result: { turn: turn('inProgress') } });
    ask();
  } else if (method === undefined) {
    answers.push(error === undefined ? result.decision : error.message);
    ask();
  }
});

function ask() {
  const question = QUESTIONS[answers.length];
  if (question === undefined) {
    end();
    return;
  }
  const { item, method, params, resolves } = question;
  const id = answers.length;
  send({ method: 'item/started', params: { ...about, startedAtMs: NOW * 1000, item } });
  send({ id, method, params: { ...about, itemId: item.id, startedAtMs: NOW * 1000, ...params } });
  if (!resolves) return;
  send({ method: 'serverRequest/resolved', params: { threadId: THREAD, requestId: id } });
  answers.push('resolved');
  ask();
}

function end() {
  const item = { type: 'agentMessage', id: 'message-1', text: answers.join(', '), phase: null };
  send({ method: 'item/completed', params: { ...about, completedAtMs: NOW * 1000, item } });
  send({ method: 'turn/completed', params: { threadId: THREAD, turn: turn('completed') } });
}

function commandItem(id, command) {
  return {
    type: 'commandExecution',
    id,
    command,
    cwd: '/project',
    status: 'inProgress',
    commandActions: [],
  };
}

function turn(status) {
  return {
    id: TURN,
    items: [],
    itemsView: 'notLoaded',
    status,
    error: null,
    startedAt: NOW,
    completedAt: null,
    durationMs: null,
  };
}

function send(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
