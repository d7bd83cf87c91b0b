import type { Reply } from './provider-server.ts';

/** Wire text of a chunk, or of a text as it is. */
export function data(chunk: object | string): string {
  return typeof chunk === 'string' ? chunk : `data: ${JSON.stringify(chunk)}\n\n`;
}

/** A chunk with this delta. */
export function delta(change: object, finishReason: string | null = null): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: change, finish_reason: finishReason }],
  };
}

export const finish = (reason: string) => delta({}, reason);

/** A chunk with the counts alone. */
export const counts = (usage: object) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [],
  usage,
});

export const DONE = 'data: [DONE]\n\n';

/** A reply that streams these chunks, or texts as they are, and ends. */
export function chatStream(...chunks: (object | string)[]): Reply {
  return (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(chunks.map(data).join(''));
  };
}

export const chatAnswered = chatStream(
  delta({ role: 'assistant', content: 'ok' }),
  finish('stop'),
  DONE,
);
