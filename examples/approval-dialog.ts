// Asks on the terminal before the agent runs a command or changes files.
//
// In a project with `"type": "module"` in its package.json, and `"types": ["node"]` in its tsconfig.json:
//   npm install heddle && npm install --save-dev tsx typescript @types/node
//   npx tsx approval-dialog.ts "Tidy up here." [COMMAND OF ANOTHER APP-SERVER …]
import { createInterface } from 'node:readline/promises';
import { type CommandExecutionApprovalDecision, spawnServer, type ThreadItem } from 'heddle/client';

const [input = 'Tidy up here.', command, ...args] = process.argv.slice(2);
const client = spawnServer(command === undefined ? {} : { command, args });
const terminal = createInterface({ input: process.stdin, output: process.stdout });
const items = new Map<string, ThreadItem>();

/** What each key answers. */
const DECISIONS = { y: 'accept', a: 'acceptForSession', n: 'decline', c: 'cancel' } as const;

/** Resolves with the decision; rejects when the question is void meanwhile, since somebody else answered or the turn ended. */
async function ask(question: string, signal: AbortSignal) {
  try {
    for (;;) {
      const key = await terminal.question(`${question}\n[y]es, [a]lways, [n]o, [c]ancel the turn: `, { signal });
      if (key in DECISIONS) return DECISIONS[key as keyof typeof DECISIONS];
    }
  } finally {
    if (signal.aborted) console.log('(no answer is needed any more)');
  }
}

// An approval names the item that it is about. The item tells what is to be done.
client.on('item/started', ({ item }) => items.set(item.id, item));

client.handle('item/commandExecution/requestApproval', async (params, { signal }) => {
  const offered = params.availableDecisions ?? Object.values(DECISIONS);
  const question = `${params.reason ?? 'The agent wants to run a command.'}\n  ${params.cwd}$ ${params.command}`;
  let decision: CommandExecutionApprovalDecision = await ask(question, signal);
  if (!offered.includes(decision)) decision = decision === 'acceptForSession' ? 'accept' : 'decline';
  return { decision };
});

client.handle('item/fileChange/requestApproval', async ({ itemId, reason }, { signal }) => {
  const item = items.get(itemId);
  const changes = item?.type === 'fileChange' ? item.changes : [];
  const list = changes.map(({ kind, path }) => `  ${kind.type} ${path}`).join('\n');
  return { decision: await ask(`${reason ?? 'The agent wants to change files.'}\n${list}`, signal) };
});

try {
  await client.initialize({ clientInfo: { name: 'approval-dialog', version: '1.0.0' } });
  const { thread } = await client.request('thread/start', { cwd: process.cwd(), approvalPolicy: 'untrusted' });
  const { turn, text } = await client.turn({ threadId: thread.id, input }).result;
  console.log(text);
  console.log(`turn ${turn.status}`);
} finally {
  terminal.close();
  await client.close();
}
