// A client that runs one turn in a new thread, and prints the answer as it streams. In a project
// with `"type": "module"` in its package.json: npm install heddle tsx && npx tsx client.ts "What is
// here?" To check its types: npm install --save-dev typescript @types/node, and "types": ["node"]
// in tsconfig.json.
import { RequestError, showText, spawnServer } from 'heddle/client';

const [input = 'say Good morning.'] = process.argv.slice(2);
const client = spawnServer({ onSkipped: (reason) => console.error(showText(reason)) });

try {
  const { serverInfo } = await client.initialize({
    clientInfo: { name: 'my-client', version: '1.0.0' },
  });
  console.error(`${serverInfo.name} ${serverInfo.version}`);

  const { thread, model } = await client.request('thread/start', { cwd: process.cwd() });
  console.error(`thread ${thread.id}, model ${showText(model)}`);

  // The first Ctrl-C interrupts the turn, which then ends with the status `interrupted`.
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort());

  const run = client.turn({ threadId: thread.id, input }, { signal: interrupt.signal });
  for await (const { method, params } of run) {
    switch (method) {
      case 'item/agentMessage/delta':
        process.stdout.write(showText(params.delta, { multiline: true }));
        break;
      case 'item/completed':
        if (params.item.type === 'agentMessage') process.stdout.write('\n');
        break;
      case 'error':
        console.error(showText(params.error.message));
        break;
      default: // This client ignores all other notifications.
    }
  }
  const { turn } = await run.result;
  console.error(`turn ${turn.status}`);
  if (turn.status !== 'completed') process.exitCode = 1;
} catch (error) {
  if (!(error instanceof RequestError)) throw error;
  console.error(`${error.method} was refused (${error.data.code}): ${showText(error.message)}`);
  process.exitCode = 1;
} finally {
  await client.close();
}
