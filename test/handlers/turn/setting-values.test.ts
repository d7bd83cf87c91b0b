import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSchema, type Schema } from '../../../schema/bundle.ts';
import { isObject, type JsonObject } from '../../../src/base/json-value.ts';
import type { Personality, ReasoningSummary } from '../../../src/protocol/generated/types.ts';
import { chatStream, counts, DONE, delta, finish } from '../../model/chat-stream.ts';
import { answered, ProviderServer } from '../../model/provider-server.ts';
import { idOf } from '../../support/counting-ids.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';

type WireApi = 'responses' | 'chat';

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const SUMMARIES: ReasoningSummary[] = ['auto', 'concise', 'detailed', 'none'];
/** The tiers, and the names that providers have for them. */
const TIERS = [
  ['fast', 'priority'],
  ['flex', 'flex'],
] as const;
const VERBOSITIES = ['low', 'medium', 'high'];

/** Returns the next request that a provider gets, after these requests of the client. */
async function bodyAfter(
  wireApi: WireApi,
  act: (server: TestServer) => Promise<unknown>,
  config = '',
): Promise<JsonObject> {
  const usage = counts({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 });
  const answer =
    wireApi === 'chat'
      ? chatStream(delta({ content: 'ok' }), finish('stop'), usage, DONE)
      : answered;
  await using provider = await ProviderServer.start(answer);
  const provided = `model = "m"\nmodel_provider = "p"\n${config}
[model_providers.p]\nbase_url = "http://127.0.0.1:${provider.port}/v1"\nwire_api = "${wireApi}"\n`;
  const server = await startServer({ config: provided, model: null });
  await server.client.request('thread/start', {});
  await act(server);
  await server.close();
  const body = provider.requests.at(-1)?.body;
  if (!isObject(body)) throw new Error('the provider was not asked');
  return body as JsonObject;
}

/** The values of an enum in a required schema. */
function required(name: string, type: string): unknown[] {
  const schema = readSchema(
    join(import.meta.dirname, '..', '..', 'protocol', 'required', `${name}.json`),
  );
  const definition = schema.definitions?.[type] as Schema;
  return [definition, ...(definition.oneOf ?? [])].flatMap((one) => one.enum ?? []);
}

test('the tables have every value of the required schemas', () => {
  expect(EFFORTS).toEqual(required('TurnStartParams', 'ReasoningEffort'));
  expect(SUMMARIES).toEqual(required('TurnStartParams', 'ReasoningSummary'));
  for (const name of ['TurnStartParams', 'ThreadResumeParams']) {
    expect(TIERS.map(([tier]) => tier)).toEqual(required(name, 'ServiceTier'));
    expect(['none', 'friendly', 'pragmatic']).toEqual(required(name, 'Personality'));
  }
});

describe.each<WireApi>(['responses', 'chat'])(
  'in a request to a provider of the API %s',
  (wireApi) => {
    test.each(EFFORTS)(
      'the reasoning effort `%s` of turn/start, and of a collaboration mode',
      async (effort) => {
        const sent = ({ reasoning, reasoning_effort }: JsonObject) =>
          isObject(reasoning) ? reasoning.effort : reasoning_effort;
        expect(
          sent(await bodyAfter(wireApi, ({ client }) => client.turn(idOf(1), 'hi', { effort }))),
        ).toBe(effort);
        const settings = { model: 'm', reasoning_effort: effort, developer_instructions: null };
        const collaborationMode = { mode: 'default' as const, settings };
        expect(
          sent(
            await bodyAfter(wireApi, ({ client }) =>
              client.turn(idOf(1), 'hi', { collaborationMode }),
            ),
          ),
        ).toBe(effort);
      },
    );

    test.each(TIERS)(
      'the service tier `%s`, as `%s`, of turn/start, thread/settings/update and thread/fork',
      async (serviceTier, name) => {
        const turn = await bodyAfter(wireApi, ({ client }) =>
          client.turn(idOf(1), 'hi', { serviceTier }),
        );
        const updated = await bodyAfter(wireApi, async ({ client }) => {
          await client.request('thread/settings/update', { threadId: idOf(1), serviceTier });
          await client.turn(idOf(1), 'hi');
        });
        const forked = await bodyAfter(wireApi, async ({ client }) => {
          const { thread } = await client.request('thread/fork', {
            threadId: idOf(1),
            serviceTier,
          });
          await client.turn(thread.id, 'hi');
        });
        expect([turn, updated, forked].map(({ service_tier }) => service_tier)).toEqual([
          name,
          name,
          name,
        ]);
      },
    );

    test.each(VERBOSITIES)('the verbosity `%s` of the configuration', async (verbosity) => {
      const body = await bodyAfter(
        wireApi,
        ({ client }) => client.turn(idOf(1), 'hi'),
        `model_verbosity = "${verbosity}"`,
      );
      expect(wireApi === 'chat' ? body.verbosity : body.text).toEqual(
        wireApi === 'chat' ? verbosity : { verbosity },
      );
    });

    test.each<[Personality, string | null]>([
      ['none', null],
      ['friendly', 'be warm'],
      ['pragmatic', 'be direct'],
    ])('the personality `%s` changes the instructions', async (personality, tone) => {
      const body = JSON.stringify(
        await bodyAfter(wireApi, ({ client }) => client.turn(idOf(1), 'hi', { personality })),
      );
      expect(/Tone: (be \w+)/.exec(body)?.[1] ?? null).toBe(tone);
    });
  },
);

test.each(SUMMARIES)(
  'the reasoning summary `%s` is asked for, and `none` is not',
  async (summary) => {
    const body = await bodyAfter('responses', ({ client }) =>
      client.turn(idOf(1), 'hi', { summary, effort: 'low' }),
    );
    expect(body.reasoning).toEqual(
      summary === 'none' ? { effort: 'low' } : { effort: 'low', summary },
    );
  },
);
