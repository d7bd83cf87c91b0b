import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSchema, type Schema } from '../../schema/bundle.ts';
import { methods } from '../../src/protocol/generated/methods.ts';
import { paramsProblem } from '../../src/protocol/params-problem.ts';
import { validateRequired } from '../support/generated/validate-required.js';
import { validateNotification } from '../support/generated/validate-sent.js';
import { runs } from '../support/runs.ts';
import { schemaArbitrary } from '../support/schema-arbitrary.ts';

/**
 * A folder with a set of schemas per release of the protocol; CI names it, and it is no part of the
 * project.
 */
const releases = process.env.HEDDLE_PROTOCOL_SCHEMAS;

describe('whatever is valid under a required schema is accepted', () => {
  test.each([
    ['thread/resume', 'ThreadResumeParams'],
    ['thread/fork', 'ThreadForkParams'],
    ['turn/start', 'TurnStartParams'],
  ])('%s', async (method, name) => {
    const schema = required(name);
    await everyValueIsAccepted(method, schemaArbitrary(schema, schema));
  });

  test('thread/resume with a history of ResponseItems', async () => {
    const schema = required('ThreadResumeParams');
    const history = { type: 'array', items: { $ref: '#/definitions/ResponseItem' } };
    const withHistory = {
      ...schema,
      required: ['threadId', 'history'],
      properties: { ...schema.properties, history },
    };
    await everyValueIsAccepted('thread/resume', schemaArbitrary(withHistory, schema));
  });

  test('item/started: our own schema knows every item of it, and the validator made from it passes each', () => {
    const schema = required('ItemStartedNotification');
    fc.assert(
      fc.property(schemaArbitrary(schema, schema), (params) => {
        const { item, ...others } = params as { item: object };
        const timed = { ...others, item: { ...item, startedAtMs: 1, completedAtMs: null } };
        expect(validateNotification['item/started']?.(timed)).toBe(true);
        expect(validateRequired['item/started']?.(params)).toBe(true);
      }),
    );
  });
});

describe.runIf(releases)(
  'whatever is valid under a release of the protocol is accepted (HEDDLE_PROTOCOL_SCHEMAS)',
  () => {
    const served = Object.keys(methods).filter((method) => methods[method]?.served);
    const cases = ['0.131.0', '0.169.0'].flatMap((release) => casesOf(release));

    test('each served method is in some release, but for those of an older release and of our own', () => {
      const others = [
        'getAuthStatus',
        'getConversationSummary',
        'gitDiffToRemote',
        'mcpServer/oauth/logout',
        'server/connection/close',
      ];
      expect(served.filter((method) => !cases.some((found) => found.method === method))).toEqual(
        others,
      );
    });

    test.each(cases)(
      '$release $method',
      { tags: 'seeded' },
      async ({ method, params, mayBeMissing, root }) => {
        const values = schemaArbitrary(params, root);
        await everyValueIsAccepted(
          method,
          mayBeMissing ? fc.option(values, { nil: undefined }) : values,
        );
      },
    );

    function casesOf(
      release: string,
    ): { release: string; method: string; params: Schema; mayBeMissing: boolean; root: Schema }[] {
      const root = releases ? readSchema(join(releases, release, 'ClientRequest.json')) : {};
      return (root.oneOf ?? []).flatMap(({ properties = {}, required = [] }) => {
        const { method, params = { type: 'null' } } = properties;
        const name = String(method?.enum?.[0]);
        return served.includes(name)
          ? [{ release, method: name, params, mayBeMissing: !required.includes('params'), root }]
          : [];
      });
    }
  },
);

async function everyValueIsAccepted(method: string, values: fc.Arbitrary<unknown>): Promise<void> {
  await fc.assert(
    fc.asyncProperty(values, async (params) => {
      expect(await paramsProblem(method, params)).toBe(null);
    }),
    { numRuns: runs(300) },
  );
}

function required(name: string): Schema {
  return readSchema(join(import.meta.dirname, 'required', `${name}.json`));
}
