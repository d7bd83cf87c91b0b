import { ProtocolError } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { UrlElicitations } from '../../src/mcp/host/url-elicitations.ts';

const visit = (elicitationId: string) => ({
  elicitationId,
  url: `https://example.com/${elicitationId}`,
  message: 'Go there',
});
const needs = (...elicitations: unknown[]) =>
  new ProtocolError(-32042, 'go there first', { elicitations });

/** Sends a request that fails with these errors, one after another, and then succeeds. */
function request(
  visits: UrlElicitations,
  errors: Error[],
  { signal = new AbortController().signal } = {},
) {
  const left = [...errors];
  const asked: unknown[] = [];
  const accepts = async ({ elicitationId }: { elicitationId?: unknown }) => {
    asked.push(elicitationId);
    return true;
  };
  const send = async () => {
    const error = left.shift();
    if (error !== undefined) throw error;
    return 'done';
  };
  return { asked, left, result: visits.perform({ send, accepts, signal }) };
}

test('a request is sent again after a while, without another question, if the server does not say that a visit is complete', async () => {
  const { asked, result } = request(new UrlElicitations(20), [
    needs(visit('a')),
    needs(visit('a')),
    needs(visit('a')),
  ]);
  expect(await result).toBe('done');
  expect(asked).toEqual(['a']);
});

test('the user is asked about the visits that a later error adds', async () => {
  const { asked, result } = request(new UrlElicitations(20), [
    needs(visit('a')),
    needs(visit('a'), visit('b')),
  ]);
  expect(await result).toBe('done');
  expect(asked).toEqual(['a', 'b']);
});

test('the user is asked about four addresses at most, at once and one after another', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const atOnce = request(new UrlElicitations(1), [needs(...names.map(visit))]);
  await expect(atOnce.result).rejects.toThrow('go there first');
  expect(atOnce.asked).toEqual([]);
  const inTurn = request(
    new UrlElicitations(1),
    names.map((name) => needs(visit(name))),
  );
  await expect(inTurn.result).rejects.toThrow('go there first');
  expect(inTurn.asked).toEqual(['a', 'b', 'c', 'd']);
});

test.each([
  ['another error', new ProtocolError(-32001, 'go there first', { elicitations: [visit('a')] })],
  ['no visits', needs()],
  ['visits without an id', needs({ url: 'https://example.com/a', message: 'Go there' })],
  ['no list', new ProtocolError(-32042, 'go there first', { elicitations: visit('a') })],
  ['no data', new ProtocolError(-32042, 'go there first')],
])('%s: nobody is asked', async (_name, error) => {
  const { asked, result } = request(new UrlElicitations(1), [error]);
  await expect(result).rejects.toBe(error);
  expect(asked).toEqual([]);
});

test('a request that is cancelled waits no longer', async () => {
  const cancel = new AbortController();
  const { asked, left, result } = request(
    new UrlElicitations(60_000),
    [needs(visit('a')), needs(visit('a'))],
    { signal: cancel.signal },
  );
  await new Promise((resolve) => setImmediate(resolve));
  cancel.abort();
  await expect(result).rejects.toMatchObject({ name: 'AbortError' });
  expect(asked).toEqual(['a']);
  expect(left).toHaveLength(1);
});
