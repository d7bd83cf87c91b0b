import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { sendRequest } from '../../src/mcp/host/send-request.ts';

test('of a flood of progress, little is passed on', async () => {
  const client: Pick<Client, 'callTool'> = {
    callTool: async (_params, options): Promise<CallToolResult> => {
      for (let progress = 0; progress < 10_000; progress++) options?.onprogress?.({ progress });
      return { content: [] };
    },
  };
  const passedOn: number[] = [];
  const request = { op: 'callTool' as const, name: 'any', arguments: {}, meta: null };
  const onProgress = ({ progress }: { progress: number }) => passedOn.push(progress);
  await sendRequest(client as Client, request, {
    signal: new AbortController().signal,
    onProgress,
  });
  expect(passedOn[0]).toBe(0);
  expect(passedOn.length).toBeLessThan(100);
});
