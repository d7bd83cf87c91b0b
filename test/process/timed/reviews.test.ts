// @module-tag slow
import { expect, test } from 'vitest';
import { HostileServer } from '../hostile/hostile-server.ts';

const CALLS = 32;
const CONFIG = `model = "m"
model_provider = "own"
approvals_reviewer = "auto_review"
approval_policy = "untrusted"
sandbox_mode = "danger-full-access"
[model_providers.own]
wire_api = "scripted"
script = "script.json"
[model_providers.judge]
wire_api = "scripted"
[auto_review]
model_provider = "judge"
model = "judge"
`;
const touches = (index: number) => ({
  call: 'exec_command',
  arguments: { cmd: `touch file-${index}`, login: false },
});

/** A history of more than 100,000 characters, as a session about code has it. */
const HISTORY = Array.from({ length: 60 }, (_, index) => ({
  type: 'message',
  role: index % 2 === 0 ? 'user' : 'assistant',
  content: [
    { type: index % 2 === 0 ? 'input_text' : 'output_text', text: codeOf(index).slice(0, 2_000) },
  ],
}));

function codeOf(index: number): string {
  const line = (at: number) =>
    `src/file-${index}.ts:${at}: const value${at} = await read("${at}", { token: null, url: 'https://example.com/${at}?q=${at}' });\n`;
  return Array.from({ length: 30 }, (_, at) => line(at)).join('');
}

/**
 * The time that the first review of a thread takes, with its model in the same process, in
 * milliseconds of a usual machine.
 */
const REVIEW_MS_MAX = 10;
const START_MS_MAX = 100;
/** The longest work of the main loop without a pause. */
const BLOCK_MS_MAX = 25;
/** Measures again if another program of the machine may have delayed it. */
const MEASURED_TIMES_MAX = 5;

test('a thread with a long history: its first review takes a few milliseconds, and 32 reviews begin together', async () => {
  const turns = [
    [touches(100)],
    [{ message: 'one' }],
    Array.from({ length: CALLS }, (_, index) => touches(index)),
    [{ message: 'all' }],
  ];
  const responses = Array.from({ length: MEASURED_TIMES_MAX }, () => turns).flat();
  const server = await HostileServer.start({
    'config.toml': CONFIG,
    'script.json': JSON.stringify({ responses }),
  });
  const { heddle } = server;
  for (let times = 1; ; times++) {
    const { thread } = await heddle.request('thread/start', {});
    await heddle.request('thread/inject_items', { threadId: thread.id, items: HISTORY });
    await server.load();
    for (const text of ['one', 'all'])
      expect(await heddle.turn(thread.id, text)).toMatchObject({ status: 'completed' });
    const { workedMs, slowness } = await server.load();
    const reviews = heddle.notifications(
      'item/autoApprovalReview/completed',
      ({ threadId }) => threadId === thread.id,
    );
    expect(reviews.map(({ review }) => review.status)).toEqual(
      Array.from({ length: 1 + CALLS }, () => 'approved'),
    );
    const [first, ...others] = reviews;
    const tookMs = (first?.completedAtMs ?? 0) - (first?.startedAtMs ?? 0);
    const starts = others.map(({ startedAtMs }) => startedAtMs);
    const startMs = Math.max(...starts) - Math.min(...starts);
    if (
      tookMs <= REVIEW_MS_MAX * slowness &&
      startMs <= START_MS_MAX * slowness &&
      workedMs <= BLOCK_MS_MAX
    )
      break;
    expect(
      times,
      `measured so often: ${JSON.stringify({ tookMs, startMs, workedMs, slowness })}`,
    ).toBeLessThan(MEASURED_TIMES_MAX);
  }
}, 60_000);
