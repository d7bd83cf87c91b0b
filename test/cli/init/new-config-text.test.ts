import { expect, test } from 'vitest';
import { newConfigText } from '../../../src/cli/init/new-config-text.ts';
import {
  OFFERED_PROVIDERS,
  type OfferedProvider,
  providerAt,
  urlProblem,
} from '../../../src/cli/init/offered-providers.ts';
import { configWarnings } from '../../../src/config/problems/config-warnings.ts';
import { chooseProvider } from '../../../src/config/providers/choose-provider.ts';
import { SANDBOX_MODES } from '../../../src/config/strictness/sandbox-modes.ts';
import { policyReads } from '../../../src/policy/policy-reads.ts';
import { load, sourcesIn } from '../../config/load.ts';
import { tempFolder } from '../../config/temp-folder.ts';

const AT_URLS = [
  providerAt('https://models.example.com/v1/', 'WORK_API_KEY'),
  providerAt('https://me.openai.azure.com/openai/v1', 'AZURE_OPENAI_API_KEY'),
  providerAt('http://127.0.0.1:9000/v1', null),
  providerAt('http://[::1]:9000/v1', null),
  providerAt('http://ollama/v1', null),
  providerAt('http://host/a"b\\c', null),
];

const ALL = [...OFFERED_PROVIDERS, ...AT_URLS].map((provider): [string, OfferedProvider] => [
  provider.id,
  provider,
]);

function warningsOf(text: string) {
  return configWarnings(sourcesIn(tempFolder({ 'config.toml': text })), policyReads);
}

/** The settings in the comments, switched on. */
function switchedOn(text: string): string {
  return text.replace(/^# (\[?[a-z_]+(?:\]| = .*))$/gm, '$1');
}

test.each(ALL)(
  'the config.toml for %s is loaded without a warning, and so is the one with all that its comments offer',
  async (id, provider) => {
    for (const sandbox of SANDBOX_MODES) {
      const text = newConfigText({
        provider,
        model: id === 'embedded' ? null : 'large "model"\\',
        sandbox,
      });
      const config = await load(text);
      const { provider: chosen, embeddedDefault } = chooseProvider(config, null);
      expect([chosen.id, embeddedDefault, config.get('sandbox_mode')]).toEqual([
        id,
        false,
        sandbox,
      ]);
      expect(config.get('model')).toBe(id === 'embedded' ? null : 'large "model"\\');
      if (provider.table !== null)
        expect(chosen).toMatchObject({
          baseUrl: provider.table.base_url,
          wireApi: provider.table.wire_api,
          envKey: provider.keyVariable,
        });
      expect(chosen.envKey).toBe(provider.keyVariable);
      expect(await warningsOf(text)).toEqual([]);
      const whole = switchedOn(text);
      expect(await warningsOf(whole)).toEqual([]);
      expect((await load(whole)).get('sandbox_workspace_write.network_access')).toBe(true);
      expect((await load(whole)).get('model_reasoning_effort')).toBe('medium');
    }
  },
);

test('a provider at a URL has an id of its own, and the API that its host has', () => {
  expect(AT_URLS.map(({ id, table, keyVariable }) => [id, table, keyVariable])).toEqual([
    [
      'models-example-com',
      { name: 'models.example.com', base_url: 'https://models.example.com/v1', wire_api: 'chat' },
      'WORK_API_KEY',
    ],
    [
      'me-openai-azure-com',
      {
        name: 'me.openai.azure.com',
        base_url: 'https://me.openai.azure.com/openai/v1',
        wire_api: 'responses',
      },
      'AZURE_OPENAI_API_KEY',
    ],
    [
      '127-0-0-1-9000',
      { name: '127.0.0.1:9000', base_url: 'http://127.0.0.1:9000/v1', wire_api: 'chat' },
      null,
    ],
    ['1-9000', { name: '[::1]:9000', base_url: 'http://[::1]:9000/v1', wire_api: 'chat' }, null],
    ['ollama-api', { name: 'ollama', base_url: 'http://ollama/v1', wire_api: 'chat' }, null],
    ['host', { name: 'host', base_url: 'http://host/a"b\\c', wire_api: 'chat' }, null],
  ]);
});

test.each([
  ['https://models.example.com/v1', null],
  ['ftp://models.example.com', 'http or https'],
  ['https://', 'http or https'],
  ['https://models.example.com/a b', 'http or https'],
  ['https://models.example.com/\u00e4', 'http or https'],
  ['https://me:sk-1234567890abcdef@models.example.com/v1', 'config.toml gets no key'],
  ['https://sk-1234567890abcdef@models.example.com/v1', 'config.toml gets no key'],
  ['https://models.example.com/v1?key=abc', 'config.toml gets no key'],
  ['https://models.example.com/v1#abc', 'config.toml gets no key'],
])('the URL %s: %s', (url, problem) => {
  expect(urlProblem(url)).toEqual(problem === null ? null : expect.stringContaining(problem));
  expect(urlProblem(url) ?? '').not.toMatch(/sk-|abc/);
});
