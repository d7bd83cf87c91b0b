// Asks on the terminal before the agent runs a command, changes files or gets permissions in addition to its sandbox.
//
// In a project with `"type": "module"` in its package.json, and `"types": ["node"]` in its tsconfig.json:
//   npm install heddle && npm install --save-dev tsx typescript @types/node
//   npx tsx approval-dialog.ts "Tidy up here." [COMMAND OF ANOTHER APP-SERVER …]
import { createInterface } from 'node:readline/promises';
import { type CommandExecutionApprovalDecision, showText, spawnServer, type ThreadItem } from 'heddle/client';

const [input = 'Tidy up here.', command, ...args] = process.argv.slice(2);
const client = spawnServer(command === undefined ? {} : { command, args });
const terminal = createInterface({ input: process.stdin, output: process.stdout });
const items = new Map<string, ThreadItem>();

/** The decision for each key. */
const DECISIONS = { y: 'accept', a: 'acceptForSession', n: 'decline', c: 'cancel' } as const;

/** Settles when the last question has been answered. Null: no question is open. */
let lastAnswer: Promise<unknown> | null = null;

/**
 * Asks a question after all earlier ones have been answered: several can be open at once. Resolves with the decision. Rejects if
 * no answer is needed any more, because another client has answered, the question has timed out or the turn has ended.
 */
function ask(question: string, signal: AbortSignal) {
  const answer = lastAnswer === null ? prompt(question, signal) : lastAnswer.then(() => prompt(question, signal));
  const settled = answer
    .catch(() => {})
    .finally(() => {
      if (lastAnswer === settled) lastAnswer = null;
    });
  lastAnswer = settled;
  return answer;
}

async function prompt(question: string, signal: AbortSignal) {
  signal.throwIfAborted();
  try {
    for (;;) {
      const key = await terminal.question(`${question}\n[y]es, [a]lways, [n]o, [c]ancel the turn: `, { signal });
      if (key in DECISIONS) return DECISIONS[key as keyof typeof DECISIONS];
    }
  } finally {
    if (signal.aborted) console.log('(no answer is needed any more)');
  }
}

// An approval request has the id of an item, which describes the action.
client.on('item/started', ({ item }) => items.set(item.id, item));

client.handle('item/commandExecution/requestApproval', async (params, { signal }) => {
  const offered = params.availableDecisions ?? Object.values(DECISIONS);
  // Without showText, an escape sequence in a command or a reason could hide the command from the person who decides.
  const command = showText(`${params.cwd}$ ${params.command}`);
  const question = `${showText(params.reason ?? 'The agent wants to run a command.')}\n  ${command}`;
  let decision: CommandExecutionApprovalDecision = await ask(question, signal);
  if (!offered.includes(decision)) decision = decision === 'acceptForSession' ? 'accept' : 'decline';
  return { decision };
});

client.handle('item/fileChange/requestApproval', async ({ itemId, reason }, { signal }) => {
  const item = items.get(itemId);
  const changes = item?.type === 'fileChange' ? item.changes : [];
  const list = changes.map(({ kind, path }) => `  ${kind.type} ${showText(path)}`).join('\n');
  return { decision: await ask(`${showText(reason ?? 'The agent wants to change files.')}\n${list}`, signal) };
});

// This request has no item: it contains everything. The client can grant the requested permissions or fewer, never more.
client.handle('item/permissions/requestApproval', async ({ threadId, turnId, permissions, reason }, { signal }) => {
  const { fileSystem, network } = permissions;
  const wanted = [
    ...(fileSystem?.read ?? []).map((path) => `  read ${showText(path)}`),
    ...(fileSystem?.write ?? []).map((path) => `  write ${showText(path)}`),
    ...(network?.enabled ? ['  reach the network'] : []),
  ];
  const decision = await ask(`${showText(reason ?? 'The agent requests permissions.')}\n${wanted.join('\n')}`, signal);
  if (decision === 'cancel') await client.request('turn/interrupt', { threadId, turnId });
  const isGranted = decision === 'accept' || decision === 'acceptForSession';
  return { permissions: isGranted ? permissions : {}, scope: decision === 'acceptForSession' ? 'session' : 'turn' };
});

try {
  await client.initialize({ clientInfo: { name: 'approval-dialog', version: '1.0.0' } });
  const { thread } = await client.request('thread/start', { cwd: process.cwd(), approvalPolicy: 'untrusted' });
  const { turn, text } = await client.turn({ threadId: thread.id, input }).result;
  console.log(showText(text, { multiline: true }));
  console.log(`turn ${turn.status}`);
} finally {
  terminal.close();
  await client.close();
}
