import { ProtocolError } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { toMcpError } from '../../src/mcp/host/to-mcp-error.ts';

test('a cause is said once, even if the error repeats it', () => {
  const refused = new Error('connect ECONNREFUSED');
  const lost = new Error('no response: connect ECONNREFUSED', { cause: refused });
  const { message } = toMcpError(
    new Error('the probe failed: no response: connect ECONNREFUSED', { cause: lost }),
  );
  expect(message).toBe('the probe failed: no response: connect ECONNREFUSED');
  const first = new Error('Version negotiation probe failed: no response: connect ECONNREFUSED', {
    cause: lost,
  });
  expect(toMcpError(first).message).toBe('no response: connect ECONNREFUSED');
  expect(toMcpError(new Error('the probe failed', { cause: lost })).message).toBe(
    'the probe failed: no response: connect ECONNREFUSED',
  );
});

test.each<[string, unknown, string]>([
  [
    'the server',
    new ProtocolError(-32000, `first ${'x'.repeat(100_000)} last`, { secret: 'x'.repeat(100_000) }),
    'server',
  ],
  ['an error page', new Error(`Error POSTing: first ${'x'.repeat(100_000)} last`), 'other'],
  [
    'a cause',
    new Error('fetch failed: first', { cause: new Error(`${'x'.repeat(100_000)} last`) }),
    'other',
  ],
])('the message of %s is cut to its first and last part', (_, error, kind) => {
  const problem = toMcpError(error);
  expect(problem).toMatchObject({
    kind,
    code: kind === 'server' ? -32000 : null,
    message: expect.stringMatching(/first.*truncated.* last$/s),
  });
  expect(problem.message.length).toBeLessThan(2_100);
});
