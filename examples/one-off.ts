// Asks the agent one question about this folder, prints the answer and ends. The server runs in
// this process. In a project with `"type": "module"` in its package.json: npm install heddle tsx &&
// npx tsx one-off.ts "What is here?" To check its types: npm install --save-dev typescript
// @types/node, and "types": ["node"] in tsconfig.json.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createAppServer } from 'heddle';
import { showText } from 'heddle/client';

const [question = 'What is here?'] = process.argv.slice(2);
const server = createAppServer({
  home: process.env.HEDDLE_HOME ?? join(homedir(), '.heddle'),
  // Nobody is there to approve anything, so the agent may only read.
  overrides: { approval_policy: 'never', sandbox_mode: 'read-only' },
});
try {
  const client = server.connectClient();
  await client.initialize({ clientInfo: { name: 'one-off', version: '1.0.0' } });
  // An ephemeral thread is not stored.
  const { thread } = await client.request('thread/start', { ephemeral: true });
  const { turn, text } = await client.turn({ threadId: thread.id, input: question }).result;
  if (turn.status === 'completed') console.log(showText(text, { multiline: true }));
  else {
    console.error(showText(turn.error?.message ?? `turn ${turn.status}`));
    process.exitCode = 1;
  }
} finally {
  await server.close();
}
