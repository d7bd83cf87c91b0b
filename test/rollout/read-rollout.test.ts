import { execFileSync } from 'node:child_process';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ResponseItem, UntimedItem } from '../../src/protocol/generated/types.ts';
import { RpcError } from '../../src/protocol/rpc-error.ts';
import { ROLLOUT_BYTES_MAX } from '../../src/rollout/read-lines.ts';
import { type Rollout, readRollout } from '../../src/rollout/read-rollout.ts';
import type { Author, LogEntry } from '../../src/store/log-entry.ts';
import { ModelItems } from '../../src/store/model-items.ts';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';
import { CountingIds, idOf } from '../support/counting-ids.ts';
import { asked, said } from '../support/test-model.ts';
import {
  at,
  BEGAN_MS,
  completed,
  event,
  line,
  response,
  rolloutId,
  sessionMeta,
  text,
  turn,
} from './rollout-text.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');
const THREAD = rolloutId(1);

function rolloutAt(path: string): Promise<Rollout> {
  return readRollout(path, { ids: new CountingIds() });
}

function readText(content: string | Buffer): Promise<Rollout> {
  return rolloutAt(join(tempFolder({ 'x.jsonl': content }), 'x.jsonl'));
}

/** The error that a file is refused with, with FILE for its path. */
async function refusal(path: string): Promise<unknown> {
  const error = await rolloutAt(path).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RpcError)) throw error;
  expect([error.code, error.data.path]).toEqual([-32600, path]);
  return [error.data.code, error.message.replaceAll(path, 'FILE')];
}

/**
 * The turns with the texts of their items, and the items that the model reads after all of them.
 */
function brief(entries: readonly LogEntry[]): { turns: string[]; model: string[] } {
  const turns: string[] = [];
  for (const entry of entries) {
    if (entry.kind === 'turnStarted') turns.push('');
    else if (entry.kind === 'item') turns.push(`${turns.pop()}${itemSummary(entry.item)}, `);
    else if (entry.kind === 'turnEnded') turns.push(`${turns.pop()}${entry.status}`);
  }
  const model: string[] = [];
  const items = new ModelItems({
    take: ({ item }) => model.push(messageText(item)),
    restart: (kept) => model.splice(0, model.length, ...kept.map(({ item }) => messageText(item))),
  });
  for (const entry of entries) items.add(entry);
  return { turns, model };
}

function itemSummary(item: UntimedItem): string {
  if (item.type === 'userMessage')
    return `user ${item.content.map((part) => (part.type === 'text' ? part.text : part.type)).join('+')}`;
  if (item.type === 'agentMessage') return `agent ${item.text}`;
  return item.type;
}

function messageText(item: ResponseItem): string {
  if (item.type !== 'message') return item.type;
  return item.content.map((part) => ('text' in part ? part.text : part.type)).join('+');
}

describe('a file is refused with the problem', () => {
  test('if it or its folder is missing', async () => {
    const folder = tempFolder({ 'a file': '' });
    expect([
      await refusal(join(folder, 'no.jsonl')),
      await refusal(join(folder, 'a file', 'no.jsonl')),
    ]).toEqual([
      ['rollout_not_found', 'no rollout found at FILE'],
      ['rollout_not_found', 'no rollout found at FILE'],
    ]);
  });

  test('if it is a folder, a pipe without a writer, or too large', async () => {
    const folder = tempFolder({ 'large.jsonl': sessionMeta(THREAD) });
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    truncateSync(join(folder, 'large.jsonl'), ROLLOUT_BYTES_MAX + 1);
    expect([
      await refusal(folder),
      await refusal(join(folder, 'pipe')),
      await refusal(join(folder, 'large.jsonl')),
    ]).toEqual([
      ['rollout_invalid', 'FILE cannot be read as a rollout: it is not a regular file'],
      ['rollout_invalid', 'FILE cannot be read as a rollout: it is not a regular file'],
      ['rollout_invalid', 'FILE cannot be read as a rollout: it is larger than 536870912 bytes'],
    ]);
  });

  test.each([
    ['it is empty', ''],
    ['it is empty', '\n\n \n'],
    ['none of its first lines is a record of a rollout', 'model = "x"\n'],
    ['none of its first lines is a record of a rollout', '[1]\n{"a":1}\nnull\n7\n'],
    [
      'none of its first lines is a record of a rollout',
      `${'x\n'.repeat(100)}${sessionMeta(THREAD)}\n`,
    ],
    [
      'its first record is "event_msg", not "session_meta"',
      text([event(0, 'task_started'), sessionMeta(THREAD)]),
    ],
    ['its session_meta has no thread id', text([sessionMeta('thread-1')])],
    [
      'its session_meta has no timestamp',
      '{"type":"session_meta","payload":{"id":"019b7900-1180-7000-8000-00000000000a"}}',
    ],
  ])('%s', async (problem, content) => {
    const path = join(tempFolder({ 'x.jsonl': content }), 'x.jsonl');
    expect(await refusal(path)).toEqual([
      'rollout_invalid',
      `FILE cannot be read as a rollout: ${problem}`,
    ]);
  });

  test('if the file that its history begins in is missing, or shorter than it was', async () => {
    const base = { thread_id: rolloutId(2), end_byte_offset: 100_000 };
    const folder = tempFolder({ 'x.jsonl': text([sessionMeta(THREAD, { history_base: base })]) });
    const path = join(folder, 'x.jsonl');
    const without = await refusal(path);
    const begin = text([sessionMeta(rolloutId(2))]);
    writeFiles(folder, { [`rollout-${rolloutId(2)}.jsonl`]: begin });
    expect([without, await refusal(path)]).toEqual([
      [
        'rollout_invalid',
        `FILE cannot be read as a rollout: its history begins in the rollout of ${rolloutId(2)}, which is missing`,
      ],
      [
        'rollout_invalid',
        `FILE cannot be read as a rollout: it ends after ${begin.length} of 100000 bytes`,
      ],
    ]);
  });

  test('if its history begins in itself', async () => {
    const name = `rollout-${THREAD}.jsonl`;
    const folder = tempFolder({
      [name]: text([
        sessionMeta(THREAD, { history_base: { thread_id: THREAD, end_byte_offset: 1 } }),
      ]),
    });
    expect(await refusal(join(folder, name))).toEqual([
      'rollout_invalid',
      'FILE cannot be read as a rollout: its history has more than 64 files',
    ]);
  });
});

describe('a line that cannot be used is skipped and counted', () => {
  test('one that is not JSON, not a record, not UTF-8, or has an item that models do not take', async () => {
    const [first, ...rest] = turn(1, 't1', ['hi', 'hello']);
    const bad = [
      Buffer.from('{"timestamp": \n[]\n'),
      Buffer.from([0x22, 0xff, 0x22, 0x0a]),
      Buffer.from(
        text([
          response(1, { type: 'message', role: 'user', content: null }),
          response(1, { type: 'never_heard_of' }),
        ]),
      ),
    ];
    const whole = Buffer.concat([
      Buffer.from(text([sessionMeta(THREAD), first ?? ''])),
      ...bad,
      Buffer.from(text(rest)),
    ]);
    const { entries, skippedLines } = await readText(whole);
    expect({ skippedLines, ...brief(entries) }).toEqual({
      skippedLines: 5,
      turns: ['user hi, agent hello, completed'],
      model: ['hi', 'hello'],
    });
  });

  test('a last line without a line end is used if it is complete', async () => {
    const { entries, skippedLines } = await readText(
      text([sessionMeta(THREAD), ...turn(1, 't1', ['hi', 'hello'])]).trimEnd(),
    );
    expect({ skippedLines, ...brief(entries) }).toEqual({
      skippedLines: 0,
      turns: ['user hi, agent hello, completed'],
      model: ['hi', 'hello'],
    });
  });

  test('records and items of unknown types are ignored, and not counted', async () => {
    const unknown = [
      line(1, 'later', {}),
      event(1, 'later'),
      completed(1, 't1', { type: 'Later', id: 'x' }),
      event(1, 'toString'),
    ];
    const { entries, skippedLines } = await readText(
      text([sessionMeta(THREAD), ...unknown, ...turn(2, 't1', ['hi', 'hello'])]),
    );
    expect([skippedLines, brief(entries).turns]).toEqual([0, ['user hi, agent hello, completed']]);
  });
});

test("a current rollout: turns with their ids, times and ends, the items, the model's items, the settings", async () => {
  const rollout = await rolloutAt(join(FIXTURES, 'current.jsonl'));
  const turnId = (n: number) => `019b7900-1180-7000-8000-00000000010${n}`;
  const started = (n: number, second: number): LogEntry => ({
    kind: 'turnStarted',
    turnId: turnId(n),
    startedAtMs: at(second),
  });
  const model = (n: number, item: ResponseItem, author?: Author): LogEntry => ({
    kind: 'model',
    turnId: turnId(n),
    item,
    ...(author && { author }),
  });
  const item = (n: number, seconds: [number, number], one: UntimedItem): LogEntry => ({
    kind: 'item',
    turnId: turnId(n),
    item: one,
    startedAtMs: at(seconds[0]),
    completedAtMs: at(seconds[1]),
  });
  const user = (content: string) => asked(content) as ResponseItem;
  const exchange = (n: number, second: number, content: string): LogEntry[] => [
    model(n, user(content), 'user'),
    item(n, [second, second], {
      type: 'userMessage',
      id: `item-u${n}`,
      clientId: null,
      content: [{ type: 'text', text: content, text_elements: [] }],
    }),
  ];
  expect(rollout).toEqual({
    meta: {
      id: '019b7900-1180-7000-8000-00000000000a',
      sessionId: '019b7900-1180-7000-8000-00000000000a',
      createdAtMs: BEGAN_MS,
      cwd: '/srv/place',
      source: 'cli',
      threadSource: 'user',
      originator: 'an-editor',
      cliVersion: '0.169.0',
      modelProvider: 'elsewhere',
      gitInfo: { sha: 'abc123', branch: 'main', originUrl: 'https://example.org/x.git' },
      forkedFromId: null,
      baseInstructions: 'Be brief.',
      base: null,
    },
    name: null,
    last: { model: 'model-b', effort: 'low', cwd: '/srv/place' },
    tokenUsage: {
      turnId: turnId(1),
      usage: {
        total: {
          totalTokens: 30,
          inputTokens: 25,
          cachedInputTokens: 2,
          cacheWriteInputTokens: 1,
          outputTokens: 5,
          reasoningOutputTokens: 3,
        },
        last: {
          totalTokens: 15,
          inputTokens: 10,
          cachedInputTokens: 0,
          cacheWriteInputTokens: 0,
          outputTokens: 5,
          reasoningOutputTokens: 0,
        },
        modelContextWindow: 1000,
      },
    },
    updatedAtMs: at(31),
    skippedLines: 1,
    entries: [
      started(1, 1),
      model(
        1,
        {
          type: 'message',
          role: 'developer',
          content: [{ type: 'input_text', text: 'Rules of the house.' }],
        },
        'context',
      ),
      model(
        1,
        user('<environment_context>\n  <cwd>/srv/place</cwd>\n</environment_context>'),
        'context',
      ),
      model(1, { ...user('list the files'), id: 'msg_u1' }, 'user'),
      item(1, [2, 2], {
        type: 'userMessage',
        id: 'item-u1',
        clientId: 'mine',
        content: [
          {
            type: 'text',
            text: 'list the files',
            text_elements: [{ byteRange: { start: 0, end: 4 }, placeholder: null }],
          },
        ],
      }),
      item(1, [3, 3], { type: 'reasoning', id: 'rs_1', summary: ['Looking.'], content: ['hm'] }),
      model(1, {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Looking.' }],
        content: null,
        encrypted_content: null,
      }),
      model(1, {
        type: 'function_call',
        name: 'exec_command',
        arguments: '{"cmd":"ls"}',
        call_id: 'call_1',
      }),
      item(1, [4, 5], {
        type: 'commandExecution',
        id: 'call_1',
        command: `/bin/bash -lc 'ls '"'"'a b'"'"''`,
        cwd: '/srv/place',
        processId: '77',
        source: 'unifiedExecStartup',
        status: 'completed',
        commandActions: [{ type: 'listFiles', command: 'ls', path: null }],
        aggregatedOutput: 'one\n',
        exitCode: 0,
        durationMs: 1500,
      }),
      model(1, { type: 'function_call_output', call_id: 'call_1', output: 'one\n' }),
      item(1, [6, 6], {
        type: 'agentMessage',
        id: 'msg_1',
        text: 'There is one.',
        phase: 'final_answer',
        memoryCitation: null,
        delivery: null,
        questions: null,
        moderation: null,
      }),
      model(1, {
        ...(said('There is one.') as ResponseItem),
        id: 'msg_1',
        phase: 'final_answer',
      } as ResponseItem),
      {
        kind: 'turnEnded',
        turnId: turnId(1),
        status: 'completed',
        error: null,
        completedAtMs: at(7),
        durationMs: 6001,
      },
      started(2, 10),
      ...exchange(2, 10, 'now fail'),
      {
        kind: 'turnEnded',
        turnId: turnId(2),
        status: 'failed',
        error: {
          message: 'the model said no',
          codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 403 } },
          additionalDetails: null,
        },
        completedAtMs: at(11),
        durationMs: 900,
      },
      started(3, 20),
      ...exchange(3, 20, 'stop me'),
      model(3, user('<turn_aborted>\nStopped.\n</turn_aborted>'), 'server'),
      {
        kind: 'turnEnded',
        turnId: turnId(3),
        status: 'interrupted',
        error: null,
        completedAtMs: at(21),
        durationMs: 1234,
      },
      started(4, 30),
      ...exchange(4, 30, 'and this is cut off'),
      {
        kind: 'turnEnded',
        turnId: turnId(4),
        status: 'interrupted',
        error: null,
        completedAtMs: at(31),
        durationMs: 1000,
      },
    ],
  });
});

describe('an older rollout, which records neither turns nor items', () => {
  test('has a turn for each user message, with the items of its events', async () => {
    const { entries, last, tokenUsage } = await rolloutAt(join(FIXTURES, 'older.jsonl'));
    expect({ ...brief(entries), last, tokenUsage }).toEqual({
      turns: [
        'user hello+image, reasoning, commandExecution, agent Hello back., completed',
        'user stop, interruptedcontextCompaction, ',
        'user go on, failed',
      ],
      model: ['hello', 'stop', 'They said hello.', 'go on'],
      last: { model: 'model-a', effort: 'medium', cwd: '/srv/place' },
      tokenUsage: null,
    });
  });

  test('gives turns times, items ids, and joins the parts of one reasoning', async () => {
    const { entries: all } = await rolloutAt(join(FIXTURES, 'older.jsonl'));
    const entries = all.filter(({ kind }) => kind !== 'model');
    expect(entries.slice(0, 4)).toEqual([
      { kind: 'turnStarted', turnId: idOf(1), startedAtMs: at(1) },
      {
        kind: 'item',
        turnId: idOf(1),
        item: {
          type: 'userMessage',
          id: idOf(2),
          clientId: null,
          content: [
            { type: 'text', text: 'hello', text_elements: [] },
            { type: 'image', url: 'data:image/png;base64,AA==', detail: null },
          ],
        },
        startedAtMs: null,
        completedAtMs: null,
      },
      {
        kind: 'item',
        turnId: idOf(1),
        item: {
          type: 'reasoning',
          id: idOf(3),
          summary: ['First thought.', 'Second thought.'],
          content: [],
        },
        startedAtMs: null,
        completedAtMs: null,
      },
      {
        kind: 'item',
        turnId: idOf(1),
        item: {
          type: 'commandExecution',
          id: 'call_1',
          command: 'ls',
          cwd: '/srv/place',
          processId: null,
          source: 'agent',
          status: 'failed',
          commandActions: [],
          aggregatedOutput: 'out',
          exitCode: 2,
          durationMs: 2,
        },
        startedAtMs: null,
        completedAtMs: null,
      },
    ]);
    expect(entries[5]).toEqual({
      kind: 'turnEnded',
      turnId: idOf(1),
      status: 'completed',
      error: null,
      completedAtMs: at(4),
      durationMs: 3000,
    });
    expect(entries.at(-1)).toEqual({
      kind: 'turnEnded',
      turnId: idOf(11),
      status: 'failed',
      error: { message: 'too busy', codexErrorInfo: 'serverOverloaded', additionalDetails: null },
      completedAtMs: at(12),
      durationMs: 1000,
    });
  });

  test('with only the items that the model read shows those that clients see', async () => {
    const { entries } = await readText(
      text([
        sessionMeta(THREAD),
        response(1, asked('<environment_context>\n</environment_context>')),
        response(1, asked('hi')),
        response(2, { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }),
        response(2, { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }),
        response(3, said('hello')),
        response(4, asked('more')),
      ]),
    );
    expect(brief(entries)).toEqual({
      turns: ['user hi, reasoning, agent hello, completed', 'user more, completed'],
      model: [
        '<environment_context>\n</environment_context>',
        'hi',
        'reasoning',
        'function_call',
        'hello',
        'more',
      ],
    });
  });
});

describe('the items that the model reads', () => {
  const before = [...turn(1, 't1', ['one', 'first']), ...turn(3, 't2', ['two', 'second'])];

  test('after a compaction are its replacement and the later ones; clients still see all', async () => {
    const compacted = line(5, 'compacted', {
      message: 'x',
      replacement_history: [asked('one'), asked('in short')],
    });
    const { entries } = await readText(
      text([sessionMeta(THREAD), ...before, compacted, ...turn(6, 't3', ['three', 'third'])]),
    );
    expect(brief(entries)).toEqual({
      turns: [
        'user one, agent first, completed',
        'user two, agent second, completed',
        'user three, agent third, completed',
      ],
      model: ['one', 'in short', 'three', 'third'],
    });
  });

  test.each([
    [
      'in the replacement',
      {
        message: 'in short',
        replacement_history: [asked('one'), asked('This was said: in short')],
      },
    ],
    ['without a replacement', { message: 'in short' }],
  ])('the summary is not from the user: %s', async (_, compacted) => {
    const { entries } = await readText(
      text([sessionMeta(THREAD), ...before, line(5, 'compacted', compacted)]),
    );
    const entry = entries.find(({ kind }) => kind === 'compacted');
    const authors = entry?.kind === 'compacted' ? entry.authors : [];
    expect(authors?.at(-1)).toBe('server');
    expect(authors?.[0]).toBe('user');
  });

  test("after one without a replacement are the user's messages and the summary", async () => {
    const { entries } = await readText(
      text([sessionMeta(THREAD), ...before, line(5, 'compacted', { message: 'in short' })]),
    );
    expect(brief(entries).model).toEqual(['one', 'two', 'in short']);
  });

  test('and those that clients see exclude turns that were rolled back, and compactions in them', async () => {
    const rolledBack = [
      event(5, 'task_started', { turn_id: 't3' }),
      line(5, 'compacted', { message: 'x', replacement_history: [asked('in short')] }),
      event(6, 'task_complete', { turn_id: 't3' }),
      event(7, 'thread_rolled_back', { num_turns: 2 }),
    ];
    const { entries } = await readText(
      text([sessionMeta(THREAD), ...before, ...rolledBack, ...turn(8, 't4', ['four', 'fourth'])]),
    );
    expect(brief(entries)).toEqual({
      turns: ['user one, agent first, completed', 'user four, agent fourth, completed'],
      model: ['one', 'first', 'four', 'fourth'],
    });
  });
});

describe('turns', () => {
  test('a turn without an end was cut off at the time of its last record', async () => {
    const { entries } = await readText(
      text([
        sessionMeta(THREAD),
        ...turn(1, 't1', ['one', 'first']).slice(0, 4),
        ...turn(9, 't2', ['two', 'second']),
      ]),
    );
    expect(brief(entries).turns).toEqual([
      'user one, agent first, interrupted',
      'user two, agent second, completed',
    ]);
    expect(entries[4]).toEqual({
      kind: 'turnEnded',
      turnId: 't1',
      status: 'interrupted',
      error: null,
      completedAtMs: at(2),
      durationMs: 1000,
    });
  });

  test('a turn that runs another one within it, such as a review, is one turn with all items', async () => {
    const review = [
      completed(1, 'outer', { type: 'EnteredReviewMode', id: 'r1', user_facing_hint: 'look' }),
      event(1, 'task_started', { turn_id: 'inner' }),
      completed(2, 'inner', {
        type: 'UserMessage',
        id: 'u',
        content: [{ type: 'text', text: 'look' }],
      }),
      completed(3, 'outer', {
        type: 'ExitedReviewMode',
        id: 'r2',
        review_output: { overall_explanation: 'Fine.', findings: [] },
      }),
      event(4, 'task_complete', { turn_id: 'outer', duration_ms: 3000 }),
    ];
    const { entries } = await readText(text([sessionMeta(THREAD), ...review]));
    expect(brief(entries).turns).toEqual([
      'enteredReviewMode, user look, exitedReviewMode, completed',
    ]);
    expect(entries.map((entry) => entry.turnId)).toEqual(Array(5).fill('outer'));
  });

  test('items between two recorded turns begin no turn', async () => {
    const between = [
      response(4, asked('by the way')),
      event(4, 'agent_message', { message: 'noted' }),
    ];
    const lines = [
      sessionMeta(THREAD),
      ...turn(1, 't1', ['one', 'first']),
      ...between,
      ...turn(5, 't2', ['two', 'second']),
    ];
    expect(brief((await readText(text(lines))).entries)).toEqual({
      turns: ['user one, agent first, completedagent noted, ', 'user two, agent second, completed'],
      model: ['one', 'first', 'by the way', 'two', 'second'],
    });
  });

  test('an end of a turn that the file does not have ends no turn', async () => {
    const { entries } = await readText(
      text([
        sessionMeta(THREAD),
        event(1, 'turn_aborted', { turn_id: 'x' }),
        ...turn(2, 't1', ['hi', 'hello']),
      ]),
    );
    expect(brief(entries).turns).toEqual(['user hi, agent hello, completed']);
  });
});

describe('a history in several files', () => {
  const parent = [sessionMeta(THREAD), ...turn(1, 't1', ['one', 'first'])];
  const bytes = text(parent).length;
  const forkOf = (id: string, base: string, more = {}) =>
    sessionMeta(id, {
      forked_from_id: THREAD,
      history_base: { thread_id: base, end_byte_offset: bytes },
      ...more,
    });
  const fork = text([forkOf(rolloutId(2), THREAD), ...turn(5, 't9', ['fork', 'forked'])]);
  const whole = text([...parent, ...turn(3, 't2', ['two', 'second'])]);

  test.each([
    ['beside it', 'sessions/2026/01/01'],
    ['in the folder of the day before', 'sessions/2025/12/31'],
    ['in the folder of the day after', 'sessions/2026/01/02'],
    ['in the archive', 'archived_sessions'],
  ])('begins with as much of the other as was shared, which lies %s', async (_where, folder) => {
    const home = tempFolder({
      [`${folder}/rollout-x-${THREAD}.jsonl`]: whole,
      [`sessions/2026/01/01/rollout-x-${rolloutId(2)}.jsonl`]: fork,
    });
    const rollout = await rolloutAt(
      join(home, `sessions/2026/01/01/rollout-x-${rolloutId(2)}.jsonl`),
    );
    expect([rollout.meta.id, rollout.meta.forkedFromId, brief(rollout.entries)]).toEqual([
      rolloutId(2),
      THREAD,
      {
        turns: ['user one, agent first, completed', 'user fork, agent forked, completed'],
        model: ['one', 'first', 'fork', 'forked'],
      },
    ]);
  });

  test('is followed from file to file', async () => {
    const third = text([
      sessionMeta(rolloutId(3), {
        history_base: { thread_id: rolloutId(2), end_byte_offset: fork.length },
      }),
    ]);
    const folder = tempFolder({
      [`a-${THREAD}.jsonl`]: whole,
      [`b-${rolloutId(2)}.jsonl`]: fork,
      'c.jsonl': third,
    });
    expect(brief((await rolloutAt(join(folder, 'c.jsonl'))).entries).model).toEqual([
      'one',
      'first',
      'fork',
      'forked',
    ]);
  });

  test('is read from 0 to 100 percent once, over all files', async () => {
    const third = text([
      sessionMeta(rolloutId(3), {
        history_base: { thread_id: rolloutId(2), end_byte_offset: fork.length },
      }),
    ]);
    const folder = tempFolder({
      [`a-${THREAD}.jsonl`]: whole,
      [`b-${rolloutId(2)}.jsonl`]: fork,
      'c.jsonl': third,
    });
    const parts: number[] = [];
    const onRead = (done: number, all: number) => parts.push(done / all);
    await readRollout(join(folder, 'c.jsonl'), { ids: new CountingIds(), onRead });
    expect(parts).toEqual(parts.toSorted((a, b) => a - b));
    expect(parts.at(-1)).toBe(1);
    expect(parts.filter((part) => part === 1)).toHaveLength(1);
  });

  test('that were copied into one has the id of the first record', async () => {
    const copied = text([sessionMeta(rolloutId(2), { forked_from_id: THREAD }), ...parent]);
    const rollout = await readText(copied);
    expect([rollout.meta.id, brief(rollout.entries).turns]).toEqual([
      rolloutId(2),
      ['user one, agent first, completed'],
    ]);
  });
});

describe('the name', () => {
  test('is the last one in the index of the home', async () => {
    const entry = (id: string, name: string) => JSON.stringify({ id, thread_name: name });
    const index = [
      entry(THREAD, 'old'),
      'damaged',
      entry(THREAD, 'new'),
      entry(rolloutId(2), 'of another'),
    ];
    const home = tempFolder({
      'sessions/2026/01/01/x.jsonl': text([sessionMeta(THREAD)]),
      'session_index.jsonl': text(index),
    });
    expect((await rolloutAt(join(home, 'sessions/2026/01/01/x.jsonl'))).name).toBe('new');
  });

  test('is the one in the file if no index has one', async () => {
    expect(
      (
        await readText(
          text([sessionMeta(THREAD), event(1, 'thread_name_updated', { thread_name: 'told' })]),
        )
      ).name,
    ).toBe('told');
  });

  test('is truncated if it is too long', async () => {
    const told = event(1, 'thread_name_updated', { thread_name: `${'x'.repeat(999)}🧵` });
    expect((await readText(text([sessionMeta(THREAD), told]))).name).toBe('x'.repeat(999));
  });
});

test.each([
  ['cli', 'cli'],
  ['mcp', 'appServer'],
  ['something', 'unknown'],
  [{ custom: 'mine' }, { custom: 'mine' }],
  [{ subagent: 'review' }, { subAgent: 'review' }],
  [
    { subagent: { thread_spawn: { parent_thread_id: THREAD, depth: 2, agent_nickname: 'Ada' } } },
    {
      subAgent: {
        thread_spawn: {
          parent_thread_id: THREAD,
          depth: 2,
          agent_path: null,
          agent_nickname: 'Ada',
          agent_role: null,
        },
      },
    },
  ],
  [{ subagent: { other: 'x' } }, { subAgent: { other: 'x' } }],
])('the source %j is %j to clients', async (written, source) => {
  expect((await readText(text([sessionMeta(THREAD, { source: written })]))).meta.source).toEqual(
    source,
  );
});

test('a long file is read in chunks, and nothing is lost between them', async () => {
  const long = 'x'.repeat(100_000);
  const turns = Array.from({ length: 20 }, (_, index) =>
    turn(index * 2, `t${index}`, [`${index}`, long]),
  ).flat();
  const { entries, skippedLines } = await readText(text([sessionMeta(THREAD), ...turns]));
  expect([skippedLines, brief(entries).model]).toEqual([
    0,
    Array.from({ length: 20 }, (_, index) => [`${index}`, long]).flat(),
  ]);
});

test('an id of a thread that is no UUID is not taken', async () => {
  const parent = { subagent: { thread_spawn: { parent_thread_id: 's€', depth: 2 } } };
  const ids = { session_id: 's€', forked_from_id: '../x', source: parent };
  const { meta } = await readText(`${sessionMeta(THREAD, ids)}\n`);
  expect(meta).toMatchObject({
    id: THREAD,
    sessionId: THREAD,
    forkedFromId: null,
    source: { subAgent: { other: 'unknown' } },
  });
  expect(
    (await readText(`${sessionMeta(THREAD, { session_id: rolloutId(2) })}\n`)).meta.sessionId,
  ).toBe(rolloutId(2));
});
