import { expect, test } from 'vitest';
import type { ThreadItem } from '../../src/protocol/generated/types.ts';
import {
  answered,
  completed,
  created,
  ProviderServer,
  streaming,
} from '../model/provider-server.ts';
import { question } from '../support/asking.ts';
import { text } from '../support/test-client.ts';
import { type HeddleProcess, place, providerToml, startHeddle } from './support.ts';

const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'exec_command',
  arguments: '{"cmd":"touch x"}',
};
const calls = streaming(
  created,
  { type: 'response.output_item.done', output_index: 0, item: call },
  completed,
);

/** How the server ends while a question is open, and what is told of it. */
const WAYS: {
  how: string;
  args: string[];
  end: (heddle: HeddleProcess) => void;
  told: string;
  reason: string | null;
}[] = [
  {
    how: 'SIGTERM',
    args: [],
    end: (heddle) => heddle.signal('SIGTERM'),
    told: 'The server was shut down before this was done.',
    reason:
      'The previous turn was cut off, because the server was shut down. The user did not interrupt it.',
  },
  {
    how: 'the end of stdin',
    args: [],
    end: (heddle) => void heddle.input.end(),
    told: 'The client went away before this was done.',
    reason:
      'The previous turn was cut off: the client went away, and the server ended. The user did not interrupt it.',
  },
  {
    how: 'the end of stdin, with --drain',
    args: ['--drain'],
    end: (heddle) => void heddle.input.end(),
    told: 'No client is left that could answer the request for approval, so this was not done.',
    reason: null,
  },
];

function inputOf(provider: ProviderServer): string {
  return JSON.stringify(provider.requests.at(-1)?.body);
}

test.each(WAYS)(
  'a question that is open at $how: nobody is said to have declined',
  async ({ args, end, told, reason }) => {
    await using provider = await ProviderServer.start(calls, answered);
    const where = place({
      'config.toml': `approval_policy = "untrusted"\n${providerToml(provider.port)}`,
    });
    const heddle = await startHeddle(where, {
      args: ['app-server', '--log-level', 'info', ...args],
    });
    const { thread } = await heddle.request('thread/start', {});
    await heddle.request('turn/start', { threadId: thread.id, input: text('go') });
    await question(heddle, 'item/commandExecution/requestApproval');
    end(heddle);
    await heddle.exit;
    expect(heddle.stderr).toContain('an action was not allowed');
    const next = await startHeddle(where);
    const resumed = await next.request('thread/resume', { threadId: thread.id });
    const items = resumed.thread.turns[0]?.items as ThreadItem[];
    expect(items.filter(({ type }) => type === 'commandExecution')).toMatchObject([
      { status: 'failed', aggregatedOutput: told },
    ]);
    await next.turn(thread.id, 'next');
    const input = inputOf(provider);
    expect([
      input.includes(told),
      input.includes('The user declined'),
      input.includes('<turn_interrupted>'),
    ]).toEqual([true, false, reason !== null]);
    if (reason !== null) expect(input).toContain(reason);
  },
);
