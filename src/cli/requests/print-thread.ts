import { showText } from '../../base/text/show-text.ts';
import type { Client } from '../../client/client.ts';
import type { Thread, ThreadItem } from '../../protocol/generated/types.ts';
import type { Terminal } from '../terminal/terminal-at.ts';
import { allPages } from './all-pages.ts';
import { titleOf } from './list-threads.ts';

const PAGE = 50;

/**
 * Prints a thread: its facts, and its items in their order, as Markdown or as lines of JSON, of
 * which the first is the thread.
 */
export async function printThread(
  client: Client,
  { threadId, format }: { threadId: string; format: 'jsonl' | 'markdown' },
  { print }: Terminal,
): Promise<boolean> {
  const { thread } = await client.request('thread/read', { threadId });
  const entries = allPages((cursor) =>
    client.request('thread/items/list', { threadId, cursor, limit: PAGE, sortDirection: 'asc' }),
  );
  if (format === 'jsonl') {
    print(`${JSON.stringify({ thread })}\n`);
    for await (const entry of entries) print(`${JSON.stringify(entry)}\n`);
  } else {
    print(showText(head(thread), { multiline: true }));
    for await (const { item } of entries) print(showText(shown(item), { multiline: true }));
  }
  return true;
}

function head(thread: Thread): string {
  const { id, cwd, createdAt, updatedAt, model, modelProvider } = thread;
  const time = (seconds: number) => new Date(seconds * 1000).toISOString();
  const facts = [
    `id: ${id}`,
    `folder: ${cwd}`,
    `model: ${model ?? 'none'} (${modelProvider})`,
    `from ${time(createdAt)} to ${time(updatedAt)}`,
  ];
  return `# ${titleOf(thread).replace(/\s+/g, ' ')}\n\n${facts.map((fact) => `- ${fact}\n`).join('')}`;
}

function shown(item: ThreadItem): string {
  switch (item.type) {
    case 'userMessage':
      return part(
        'User',
        item.content
          .map((input) => (input.type === 'text' ? input.text : `(${input.type})`))
          .join('\n'),
      );
    case 'agentMessage':
      return part('Agent', item.text);
    case 'plan':
      return part('Plan', item.text);
    case 'commandExecution':
      return part('Command', fenced(`$ ${item.command}\n${item.aggregatedOutput ?? ''}`));
    case 'fileChange':
      return part(
        'Patch',
        item.changes.map(({ path, diff }) => `${path}\n\n${fenced(diff)}`).join('\n\n'),
      );
    case 'mcpToolCall':
      return part('MCP tool', `${item.server} ${item.tool} (${item.status})`);
    case 'reasoning':
      return '';
    default:
      return part('Item', item.type);
  }
}

function part(title: string, text: string): string {
  return `\n## ${title}\n\n${text.trimEnd()}\n`;
}

/** A code block whose fence is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}
