import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { UntimedItem } from '../../src/protocol/generated/types.ts';
import { citationSplitter, memoryCitation } from '../../src/rollout/memory-citation.ts';
import { idOf } from '../support/counting-ids.ts';
import { agentItem, userItem } from '../support/expected.ts';
import { message, response, said } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

const block = (entries: string, ids: string) =>
  `<oai-mem-citation>\n<citation_entries>\n${entries}\n</citation_entries>\n<rollout_ids>\n${ids}\n</rollout_ids>\n</oai-mem-citation>`;
const TEXT = `An answer.\n${block('MEMORY.md:1-2|note=[why]\nnotes/x.md:10-12|note=[weekly ] plan]', 'thread-a\nthread-b\nthread-a')}`;
const CITATION = {
  entries: [
    { path: 'MEMORY.md', lineStart: 1, lineEnd: 2, note: 'why' },
    { path: 'notes/x.md', lineStart: 10, lineEnd: 12, note: 'weekly ] plan' },
  ],
  threadIds: ['thread-a', 'thread-b'],
};

test('citations of memories are passed on apart from the text, stored, and read again by the model', async () => {
  const server = await startServer();
  await server.client.request('thread/start', {});
  const deltas = TEXT.match(/[\s\S]{1,5}/g) ?? [];
  server.model.push(response(message(TEXT, { deltas })), response(message('next')));
  await server.client.turn(idOf(1), 'hi');
  const item = { ...agentItem('An answer.\n'), memoryCitation: CITATION } as UntimedItem;
  const completed = server.client.notifications('item/completed').map((params) => params.item);
  expect(completed).toEqual([userItem('hi'), item]);
  const shown = server.client.notifications('item/agentMessage/delta').map(({ delta }) => delta);
  expect(shown.join('')).toBe('An answer.\n');
  const restarted = await server.restart();
  const { thread } = await restarted.client.request('thread/resume', { threadId: idOf(1) });
  expect(thread.turns[0]?.items).toEqual([userItem('hi'), item]);
  await restarted.client.turn(idOf(1), 'again');
  expect(restarted.model.request(2).input).toContainEqual(said(TEXT));
});

test('in plan mode, citations are neither in the message nor in the plan', async () => {
  const server = await startServer();
  await server.client.request('thread/start', {});
  server.model.push(
    response(
      message(`Look:\n<proposed_plan>\n1. Act\n</proposed_plan>\n${block('a:1-2|note=[x]', 't1')}`),
    ),
  );
  const settings = { model: 'test-model', reasoning_effort: null, developer_instructions: null };
  await server.client.turn(idOf(1), 'plan', { collaborationMode: { mode: 'plan', settings } });
  const items = server.client.notifications('item/completed').map(({ item }) => item);
  expect(items.find(({ type }) => type === 'plan')).toMatchObject({ text: '1. Act\n' });
  expect(items.find(({ type }) => type === 'agentMessage')).toMatchObject({
    text: 'Look:\n',
    memoryCitation: {
      entries: [{ path: 'a', lineStart: 1, lineEnd: 2, note: 'x' }],
      threadIds: ['t1'],
    },
  });
});

test('in plan mode, a citation does not hide the tag of a plan that follows it on its line', async () => {
  const server = await startServer();
  await server.client.request('thread/start', {});
  const said = `Look:\n${block('a:1-2|note=[x]', 't1')}<proposed_plan>\n1. Act\n</proposed_plan>`;
  server.model.push(response(message(said, { deltas: said.match(/[\s\S]{1,5}/g) ?? [] })));
  const settings = { model: 'test-model', reasoning_effort: null, developer_instructions: null };
  await server.client.turn(idOf(1), 'plan', { collaborationMode: { mode: 'plan', settings } });
  const items = server.client.notifications('item/completed').map(({ item }) => item);
  expect(items.find(({ type }) => type === 'plan')).toMatchObject({ text: '1. Act\n' });
  expect(items.find(({ type }) => type === 'agentMessage')).toMatchObject({
    text: 'Look:\n',
    memoryCitation: { threadIds: ['t1'] },
  });
});

test('a message about the tag of citations streams whole, whatever its pieces', async () => {
  const server = await startServer();
  await server.client.request('thread/start', {});
  const source =
    'Write <oai-mem-citation> <b> and <oai-mem-citation>\n <cit, or `<oai-mem-citation>`: <oai-mem-citation>';
  const cited = `${source}\n${block('a:1-2|note=[x]', 't1')}.`;
  for (const size of [1, 5, 1_000]) {
    server.model.push(
      response(
        message(cited, { deltas: cited.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [] }),
      ),
    );
    await server.client.turn(idOf(1), 'hi');
    const { item } = server.client.notifications('item/completed').at(-1) ?? {};
    expect(item).toMatchObject({ text: `${source}\n.`, memoryCitation: { threadIds: ['t1'] } });
    const { itemId } = server.client.notifications('item/agentMessage/delta').at(-1) ?? {};
    const shown = server.client
      .notifications('item/agentMessage/delta')
      .filter((each) => each.itemId === itemId);
    expect(shown.map(({ delta }) => delta).join('')).toBe(`${source}\n.`);
  }
});

const PROSE =
  'Write `<oai-mem-citation>` and then `</oai-mem-citation>` around it.\nThe end <oai-mem-citation> of <oai-mem-citation>';

const LATE = `x <oai-mem-citation>${' '.repeat(300)}<thread_ids>\nt1\n</thread_ids></oai-mem-citation>`;

test('in whatever pieces a message comes, it is split at the same tags', () => {
  const texts = [
    TEXT,
    PROSE,
    LATE,
    `${PROSE}${TEXT}`,
    'x <oai-mem-citation>\n</oai-mem-citation> y <oai-mem-citation>\n<thread_',
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...texts),
      fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 60 }),
      (text, lengths) => {
        const splitter = citationSplitter();
        let shown = '';
        let rest = text;
        const take = (spans: { isInside: boolean; text: string }[]) => {
          for (const span of spans) if (!span.isInside) shown += span.text;
        };
        for (const length of lengths) {
          take(splitter.push(rest.slice(0, length)));
          rest = rest.slice(length);
        }
        take([...splitter.push(rest), ...splitter.end()]);
        expect(shown).toBe(memoryCitation(text).text);
      },
    ),
    { seed: 7, numRuns: 300 },
  );
});

const one = { path: 'a', lineStart: 1, lineEnd: 2, note: 'x' };

test.each([
  [
    'in the middle',
    `before ${block('a:1-2|note=[x]', 't1')} after`,
    'before  after',
    { entries: [one], threadIds: ['t1'] },
  ],
  [
    'twice',
    `x ${block('a:1-2|note=[x]', 't1')} y ${block('a:1-2|note=[x]', 't1\nt2')}`,
    'x  y ',
    { entries: [one, one], threadIds: ['t1', 't2'] },
  ],
  [
    'without an end',
    `x ${block('a:1-2|note=[x]', 't1').slice(0, 80)}`,
    'x ',
    { entries: [one], threadIds: [] },
  ],
  [
    'that the message only speaks about',
    'Use `<oai-mem-citation>` around `<citation_entries>`, then `</oai-mem-citation>`. <oai-mem-citation> x',
    'Use `<oai-mem-citation>` around `<citation_entries>`, then `</oai-mem-citation>`. <oai-mem-citation> x',
    null,
  ],
  ['that begins and has nothing', 'x <oai-mem-citation>\n', 'x <oai-mem-citation>\n', null],
  ['that never begins', 'x <oai-mem-cit', 'x <oai-mem-cit', null],
  ['far behind its tag', LATE, LATE, null],
  ['that is empty', 'x <oai-mem-citation></oai-mem-citation>', 'x ', null],
  [
    'without threads',
    `x <oai-mem-citation><citation_entries>a:1-2|note=[x]</citation_entries></oai-mem-citation>`,
    'x ',
    { entries: [one], threadIds: [] },
  ],
  [
    'with the newer tag',
    'x <oai-mem-citation><thread_ids>\nt1\n</thread_ids></oai-mem-citation>',
    'x ',
    { entries: [], threadIds: ['t1'] },
  ],
  [
    'with lines that are no entries',
    `x ${block('nonsense\na:1|note=[one]\nc:x-3|note=[q]\ng:9-10\nb:-1-2|note=[y\n d e:5-4|note=[] \nf:99999999999-2|note=[z]', 't1')}`,
    'x ',
    { entries: [{ path: 'd e', lineStart: 5, lineEnd: 4, note: '' }], threadIds: ['t1'] },
  ],
])('a citation %s', (_what, source, text, citation) => {
  expect(memoryCitation(source)).toEqual({ text, citation });
});
