import { join } from 'node:path';
import { expect, test } from 'vitest';
import type {
  ServerNotifications,
  ServerRequests,
  ThreadItem,
} from '../../src/protocol/generated/types.ts';
import { writeFiles } from '../config/temp-folder.ts';
import { textOf } from '../docs/pages.ts';
import { type Message, text } from '../support/test-client.ts';
import { type HeddleProcess, place, startHeddle } from './support.ts';

const THREAD = { sandbox: 'danger-full-access' } as const;
const OUTPUT_CHARS_SHOWN = 40;

/** The recipes of the page, by their headings: the script, and the lines of the session. */
const recipes = textOf('docs/scripted-model/recipes.md')
  .split(/^## /m)
  .slice(1)
  .map((part): [string, string, string[]] => {
    const [name = ''] = part.split('\n');
    const [, script = '', session = ''] =
      /^```yaml\n(.*?)^```$.*?^```\n(.*?)^```$/ms.exec(part) ?? [];
    return [name, script, session.trimEnd().split('\n')];
  });

function itemText(item: ThreadItem): string {
  switch (item.type) {
    case 'agentMessage':
      return `agentMessage: ${item.text}`;
    case 'commandExecution': {
      const output = (item.aggregatedOutput ?? '').trimEnd();
      const shown = output.length <= OUTPUT_CHARS_SHOWN ? output : `${output.length} characters`;
      return `commandExecution ${item.status}${shown === '' ? '' : `: ${shown}`}`;
    }
    case 'collabAgentToolCall':
      return `collabAgentToolCall ${item.tool} ${item.status}`;
    default:
      return item.type;
  }
}

/** How the page shows the params of a message, by its method. */
const SHOWN: {
  [Method in keyof ServerNotifications]?: (params: ServerNotifications[Method]) => string;
} & {
  [Method in keyof ServerRequests]?: (params: ServerRequests[Method]['params']) => string;
} = {
  'item/agentMessage/delta': ({ delta }) => delta,
  'item/started': ({ item }) => item.type,
  'item/completed': ({ item }) => itemText(item),
  'item/commandExecution/requestApproval': ({ command }) => String(command),
  'turn/plan/updated': ({ plan }) =>
    plan.map(({ step, status }) => `${step}: ${status}`).join(', '),
  'turn/completed': ({ turn }) => turn.status,
  error: ({ error, willRetry }) => {
    const { codexErrorInfo: info } = error;
    return `${typeof info === 'string' ? info : Object.keys(info ?? {}).join()}, willRetry ${willRetry}`;
  },
};

function lineOf({ method = '', params }: Message): string {
  const show = SHOWN[method as keyof typeof SHOWN] as ((params: unknown) => string) | undefined;
  return `${method} ${show?.(params)}`;
}

/** The kind of a message: its method, and the type of its item if it has one. */
function kindOf({ method = '', params }: Message): string {
  const { item } = (params ?? {}) as { item?: ThreadItem };
  return item === undefined ? method : `${method} ${item.type}`;
}

async function send(heddle: HeddleProcess, threadId: string, line: string): Promise<void> {
  const [what = '', ...rest] = line.split(' ');
  const words = rest.join(' ');
  switch (what) {
    case 'turn/start':
      await heddle.request('turn/start', { threadId, input: text(words) });
      return;
    case 'turn/interrupt': {
      const turnId = heddle.notifications('turn/started').at(-1)?.turn.id ?? '';
      await heddle.request('turn/interrupt', { threadId, turnId });
      return;
    }
    case 'thread/settings/update':
      await heddle.request('thread/settings/update', {
        threadId,
        ...(JSON.parse(words) as object),
      });
      return;
    case 'thread/compact/start':
      await heddle.request('thread/compact/start', { threadId });
      return;
    case 'answer': {
      const asked = heddle.messages
        .filter(({ id, method }) => id !== undefined && method !== undefined)
        .at(-1);
      heddle.send(JSON.stringify({ id: asked?.id, result: { decision: words } }));
      return;
    }
    default:
      throw new Error(`the page sends ${what}`);
  }
}

test('the page has ten recipes, each with a script and a session', () => {
  expect(recipes.map(([name]) => name)).toHaveLength(10);
  expect(
    recipes.filter(
      ([, script, session]) =>
        script === '' || !session.some((line) => line.startsWith('→ turn/start ')),
    ),
  ).toEqual([]);
});

test.each(recipes)('the recipe "%s" does what the page shows', async (_name, script, session) => {
  const where = place();
  writeFiles(where.work, { 'recipe.yaml': script });
  const heddle = await startHeddle(where, {
    args: ['--deterministic', '--model-script', join(where.work, 'recipe.yaml')],
  });
  const { thread } = await heddle.request('thread/start', THREAD);
  const received = session.filter((line) => line.startsWith('← ')).map((line) => line.slice(2));
  const kinds = new Set(
    received.map((line) => /^item\/(?:started|completed) \w+|^\S+/.exec(line)?.[0]),
  );
  const shown = () =>
    heddle.messages
      .filter((message) => kinds.has(kindOf(message)))
      .map((message) => `← ${lineOf(message)}`);
  let count = 0;
  for (const line of session) {
    if (line.startsWith('→ ')) {
      expect(shown()).toHaveLength(count);
      await send(heddle, thread.id, line.slice(2));
    } else {
      count++;
      while (shown().length < count) await heddle.next(`message ${count}: ${line}`, () => true);
      expect(shown()[count - 1]).toBe(line);
    }
  }
  expect(await heddle.finish()).toEqual({ code: 0, signal: null });
  expect(shown()).toHaveLength(count);
  expect(heddle.stderr).toBe('');
});
