import { describe, expect, test } from 'vitest';
import { answer, PLAN_MODE, QUESTIONS, question } from '../support/asking.ts';
import { idOf } from '../support/counting-ids.ts';
import { text } from '../support/test-client.ts';
import { conversation, functionCall, message, response, TestModel } from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';
import { completed, FREE_CONFIG, runs } from '../tools/command-server.ts';

const ASKING = FREE_CONFIG.replace('"never"', '"untrusted"');
const TIMEOUT_MS = 5_000;
const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch\n';
const patches = response([
  {
    type: 'itemCompleted',
    item: {
      type: 'custom_tool_call',
      id: 'ctc_1',
      call_id: 'call_1',
      name: 'apply_patch',
      input: PATCH,
    },
  },
]);

/** A server with a turn that waits for an approval. */
async function asking(
  what: 'command' | 'patch',
  config = ASKING,
): Promise<TestServer & { turnId: string; asked: { id: number } }> {
  const model = new TestModel(
    what === 'command' ? runs('touch x') : patches,
    response(message('done')),
  );
  const server = await startServer({ config, model });
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
  });
  const asked = await question(
    server.client,
    what === 'command'
      ? 'item/commandExecution/requestApproval'
      : 'item/fileChange/requestApproval',
  );
  return { ...server, turnId: turn.id, asked };
}

/** The texts that the model read in its last request, besides the user's. */
function textsForModel({ model }: Pick<TestServer, 'model'>): string[] {
  return conversation(model.request(model.requests.length)).flatMap((item) => {
    if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output')
      return [String(item.output)];
    const first = item.type === 'message' ? item.content[0] : undefined;
    return first !== undefined && 'text' in first && first.text.startsWith('<turn_interrupted>')
      ? [first.text.split('\n')[1] ?? '']
      : [];
  });
}

function denials({ log }: Pick<TestServer, 'log'>): unknown[] {
  return log.lines
    .filter(({ text: said }) => said === 'an action was not allowed')
    .map(({ fields }) => fields.by);
}

describe('what is told of a question that no person declined', () => {
  test('nobody answered in time: the item failed, and the model and the log say so', async () => {
    const server = await asking('command', `approval_timeout_ms = ${TIMEOUT_MS}\n${ASKING}`);
    await server.clock.timerOf(TIMEOUT_MS);
    server.clock.advance(TIMEOUT_MS);
    await server.client.turnCompleted(server.turnId);
    const told = 'Nobody answered the request for approval within 5 seconds, so this was not done.';
    expect(completed(server)).toMatchObject([
      { status: 'failed', exitCode: null, durationMs: null, aggregatedOutput: told },
    ]);
    expect([textsForModel(server), denials(server)]).toEqual([[told], ['timeout']]);
  });

  test('an error of the client is quoted, and counts as declined', async () => {
    const server = await asking('command');
    server.client.send(
      JSON.stringify({ id: server.asked.id, error: { code: -32601, message: 'method not found' } }),
    );
    await server.client.turnCompleted(server.turnId);
    expect(completed(server)).toMatchObject([{ status: 'declined', aggregatedOutput: null }]);
    const told =
      'The client answered the request for approval with an error, which counts as a refusal: method not found';
    expect([textsForModel(server), denials(server)]).toEqual([[told], ['error']]);
  });

  test('the user declined: the item is declined', async () => {
    const server = await asking('command');
    answer(server.client, server.asked, { decision: 'decline' });
    await server.client.turnCompleted(server.turnId);
    expect(completed(server)).toMatchObject([{ status: 'declined', aggregatedOutput: null }]);
    expect([textsForModel(server), denials(server)]).toEqual([
      ['The user declined this command, so it was not run.'],
      ['declined'],
    ]);
  });

  test.each(['command', 'patch'] as const)(
    'the server was shut down: the item of the %s failed, and the model reads it later',
    async (what) => {
      const server = await asking(what);
      const next = await server.restart();
      await next.client.request('thread/resume', { threadId: idOf(1) });
      await next.client.turn(idOf(1), 'next');
      const nothing = what === 'patch' ? ' Nothing of the patch was written.' : '';
      expect(textsForModel(next)).toEqual([
        `The server was shut down before this was done.${nothing}`,
        expect.stringMatching(/^The previous turn was cut off, because the server was shut down\./),
      ]);
      const { thread } = await next.client.request('thread/read', {
        threadId: idOf(1),
        includeTurns: true,
      });
      expect(
        thread.turns[0]?.items.map((item) => ('status' in item ? item.status : item.type)),
      ).toEqual(['userMessage', 'failed']);
      expect(denials(server)).toEqual(['interrupted']);
    },
  );

  test('the thread was archived', async () => {
    const server = await asking('command');
    await server.client.request('thread/archive', { threadId: idOf(1) });
    await server.client.request('thread/unarchive', { threadId: idOf(1) });
    await server.client.request('thread/resume', { threadId: idOf(1) });
    await server.client.turn(idOf(1), 'next');
    expect(textsForModel(server)).toEqual([
      'The thread was closed before this was done.',
      expect.stringMatching(/^The previous turn was cut off, because its thread was closed\./),
    ]);
  });

  test('nobody answered a question of the model in time', async () => {
    const model = new TestModel(
      response(functionCall('request_user_input', QUESTIONS)),
      response(message('done')),
    );
    const server = await startServer({
      config: `approval_timeout_ms = ${TIMEOUT_MS}\n${ASKING}`,
      model,
    });
    await server.client.request('thread/start', {});
    const turn = server.client.turn(idOf(1), 'go', PLAN_MODE);
    await server.clock.timerOf(TIMEOUT_MS);
    server.clock.advance(TIMEOUT_MS);
    await turn;
    expect(textsForModel(server)).toEqual([
      '{"answers":{},"note":"Nobody answered within 5 seconds."}',
    ]);
  });
});
