import type { Thread, ThreadItem } from 'heddle/client';
import type { Screen } from './screen.ts';

const HEADLINE_CHARS_MAX = 70;

/** Shows the turns of a thread as a response has them, an item a line. */
export function showHistory(screen: Screen, method: string, { id, turns }: Thread): void {
  screen.note(
    `${method}: ${shortId(id)} has ${turns.length} ${turns.length === 1 ? 'turn' : 'turns'}`,
  );
  for (const { status, items } of turns) {
    screen.note(`- ${status}`);
    for (const item of items) screen.says(...headline(item));
  }
}

/** The author of an item, and the beginning of its text. */
function headline(item: ThreadItem): [who: string, text: string] {
  switch (item.type) {
    case 'userMessage':
      return [
        'you',
        firstWords(
          item.content.map((part) => (part.type === 'text' ? part.text : part.type)).join(' '),
        ),
      ];
    case 'agentMessage':
      return ['agent', firstWords(item.text)];
    case 'reasoning':
      return ['thinks', firstWords((item.summary ?? []).join(' '))];
    default:
      return ['', item.type];
  }
}

/** The beginning of a text, on one line. */
export function firstWords(text: string): string {
  const line = text.replaceAll('\n', ' / ');
  return line.length > HEADLINE_CHARS_MAX ? `${line.slice(0, HEADLINE_CHARS_MAX)}…` : line;
}

/** The end of an id, which is enough to tell it from others. */
export function shortId(id: string): string {
  return `…${id.slice(-4)}`;
}
