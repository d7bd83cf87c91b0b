import { describe, expect, test } from 'vitest';
import type { AsideCall } from '../../../src/agent/mcp/call-aside.ts';
import type { ModelRequest } from '../../../src/model/model.ts';
import { writeFiles } from '../../config/temp-folder.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import { done, modelOutput, runs } from '../../tools/command-server.ts';
import {
  answerMcpCalls,
  ended,
  hookServer,
  keeps,
  kept,
  modelInput,
  prints,
  THREAD,
} from './hook-server.ts';

/** A command that prints so many characters. */
const floods = (chars: number) => `head -c ${chars} /dev/zero | tr '\\0' x`;
const LONG = 1_000_000;
/** The longest reason that a model reads, and the note about the cut. */
const REASON_CHARS = 10_200;

describe('a long reason of a hook is cut before the model and clients get it:', () => {
  test.each([
    ['PreToolUse', `${floods(LONG)} >&2; exit 2`],
    ['PostToolUse', `${floods(LONG)} >&2; exit 2`],
    [
      'PostToolUse',
      `printf '{"continue": false, "stopReason": "'; ${floods(900_000)}; printf '"}'`,
    ],
  ])('%s', async (event, command) => {
    const server = await hookServer({ [event]: [{ command }] }, [runs('true'), done]);
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server)).toContain('xxx');
    expect(modelOutput(server).length).toBeLessThan(REASON_CHARS);
  });

  test('Stop', async () => {
    const command = `if [ -e ../once ]; then exit 0; fi; touch ../once; ${floods(LONG)} >&2; exit 2`;
    const server = await hookServer({ Stop: [{ command }] }, [done, done]);
    await server.client.turn(THREAD, 'go');
    expect(String(modelInput(server, 2).at(-1)).length).toBeLessThan(REASON_CHARS + 200);
    const [shown] = server.client.notifications(
      'item/completed',
      ({ item }) => item.type === 'hookPrompt',
    );
    expect(JSON.stringify(shown).length).toBeLessThan(REASON_CHARS + 500);
  });

  test('a prompt', async () => {
    const hook = { type: 'prompt', prompt: 'Fine?' };
    const answer = response(message(JSON.stringify({ ok: false, reason: 'x'.repeat(LONG) })));
    const server = await hookServer({ PreToolUse: [hook] }, [runs('true'), answer, done]);
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server).length).toBeLessThan(REASON_CHARS);
  });

  test('a tool of an MCP server', async () => {
    const hook = (tool: string) => ({ type: 'mcp_tool', server: 'checks', tool });
    const texts: Record<string, string> = {
      long: JSON.stringify({ decision: 'block', reason: 'x'.repeat(900_000) }),
      tooLong: JSON.stringify({ decision: 'block', reason: 'y'.repeat(2_000_000) }),
    };
    const callMcpTool = ({ tool }: AsideCall) => Promise.resolve(texts[tool] ?? '');
    answerMcpCalls(callMcpTool);
    const server = await hookServer({ PreToolUse: [hook('long'), hook('tooLong')] }, [
      runs('true'),
      done,
    ]);
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server).length).toBeLessThan(REASON_CHARS);
    expect(ended(server)).toMatchObject([
      { status: 'blocked' },
      { entries: [{ text: 'PreToolUse hook printed too much JSON' }] },
    ]);
  });
});

describe('an event that is too long for a model', () => {
  const hook = { type: 'prompt', prompt: 'No deletions.' };

  test('is refused where something can still be prevented', async () => {
    const server = await hookServer({ PreToolUse: [hook] }, [
      runs(`echo hi # ${'x'.repeat(100_000)}`),
      done,
    ]);
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server)).toMatch(
      /^A PreToolUse hook blocked this call.*more than 100000 bytes/,
    );
    expect(server.model.requests).toHaveLength(2);
  });

  test('withholds an output that nobody has checked', async () => {
    const server = await hookServer({ PostToolUse: [hook] }, [
      runs(`head -c 110000 /dev/zero | tr '\\0' x`),
      done,
    ]);
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server)).toMatch(
      /^A hook could not check this.*more than 100000 bytes[^x]*$/,
    );
    expect(ended(server)).toMatchObject([
      { status: 'blocked', entries: [{ kind: 'error' }, { kind: 'feedback' }] },
    ]);
  });

  test('is a failure of the hook where a refusal would only make the work go on', async () => {
    const long = response(message('x'.repeat(110_000)));
    const server = await hookServer({ Stop: [hook] }, [long]);
    await server.client.turn(THREAD, 'go');
    expect(ended(server)).toMatchObject([
      { status: 'failed', entries: [{ text: expect.stringContaining('more than 100000 bytes') }] },
    ]);
  });
});

test('a provider that refuses schemas is asked with one only once', async () => {
  const refusal = {
    message: 'no schema, please',
    codexErrorInfo: 'badRequest' as const,
    additionalDetails: null,
  };
  const answer = ({ outputSchema }: ModelRequest) =>
    outputSchema === null
      ? response(message('{"ok": true}'))
      : [{ type: 'failed' as const, error: refusal }];
  const server = await hookServer({ PreToolUse: [{ type: 'prompt', prompt: 'Fine?' }] }, [
    runs('true'),
    answer,
    answer,
  ]);
  server.model.push(runs('true', {}, 'call_2'), answer, done);
  await server.client.turn(THREAD, 'go');
  expect(ended(server).map(({ status }) => status)).toEqual(['completed', 'completed']);
  expect(server.model.requests.map(({ outputSchema }) => outputSchema !== null)).toEqual([
    false,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('PostToolUse hooks get what a call returned without the data of images', async () => {
  const png = Buffer.alloc(1_000_000, 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ', 'base64');
  const view = response(functionCall('view_image', { path: 'p.png' }));
  const server = await hookServer({ PostToolUse: [{ command: keeps('input') }] }, [view, done]);
  writeFiles(server.cwd, { 'p.png': png });
  await server.client.turn(THREAD, 'go');
  expect(kept(server, 'input')).toMatchObject([
    {
      tool_name: 'view_image',
      tool_response: [
        { type: 'input_image', image_url: expect.stringMatching(/^\[\d+ characters left out\]$/) },
      ],
    },
  ]);
});

test('an entry for clients is cut, too', async () => {
  const command = prints({ systemMessage: 'w'.repeat(100_000) });
  const server = await hookServer({ UserPromptSubmit: [{ command }] }, [done]);
  await server.client.turn(THREAD, 'go');
  expect(JSON.stringify(ended(server)).length).toBeLessThan(25_000);
});
