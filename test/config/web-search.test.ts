import { describe, expect, test } from 'vitest';
import { configWarnings } from '../../src/config/problems/config-warnings.ts';
import { chooseProvider } from '../../src/config/providers/choose-provider.ts';
import { webSearch } from '../../src/config/web-search.ts';
import { load, sourcesIn } from './load.ts';
import { tempFolder } from './temp-folder.ts';

const CUSTOM = 'model_provider = "own"\n[model_providers.own]\nbase_url = "http://127.0.0.1:9"\n';
const CHAT = `${CUSTOM}wire_api = "chat"\n`;
const NONE = { contextSize: null, allowedDomains: [], location: null };

async function searchOf(text: string, fullAccess = false) {
  const config = await load(text, { env: { OPENAI_API_KEY: 'k' } });
  return webSearch(config, chooseProvider(config, null).provider, { fullAccess });
}

describe('how the provider searches the web', () => {
  const modes: [string, string, string | null][] = [
    ['OpenAI searches what it has stored', '', 'cached'],
    ['another provider does not search unasked', CUSTOM, null],
    ['one with Chat Completions cannot search', `web_search = "live"\n${CHAT}`, null],
    ['web_search decides', `web_search = "live"\n${CUSTOM}`, 'live'],
    ['web_search = "indexed"', `web_search = "indexed"\n${CUSTOM}`, 'indexed'],
    ['web_search = "disabled"', 'web_search = "disabled"', null],
    [
      'web_search wins over older keys',
      'web_search = "disabled"\n[features]\nweb_search_request = true\n[tools]\nweb_search = true',
      null,
    ],
    [
      'features.web_search_request, an older key',
      `${CUSTOM}[features]\nweb_search_request = true`,
      'live',
    ],
    ['tools.web_search = true, an older key', `${CUSTOM}[tools]\nweb_search = true`, 'cached'],
    ['tools.web_search = false, an older key', '[tools]\nweb_search = false', null],
  ];
  test.each(modes)('%s', async (_name, text, mode) => {
    expect(await searchOf(text)).toEqual(mode === null ? null : { mode, ...NONE });
  });

  test('with full access to the system, all pages by default', async () => {
    expect(await searchOf('', true)).toEqual({ mode: 'live', ...NONE });
    expect(await searchOf('web_search = "cached"', true)).toEqual({ mode: 'cached', ...NONE });
  });

  test('tools.web_search has the choices beside the mode', async () => {
    const table =
      '[tools.web_search]\ncontext_size = "high"\nallowed_domains = ["a.example"]\nlocation = { country = "DE", city = "Berlin" }\n';
    expect(await searchOf(table)).toEqual({
      mode: 'cached',
      contextSize: 'high',
      allowedDomains: ['a.example'],
      location: { country: 'DE', city: 'Berlin' },
    });
  });

  test.each([
    'context_size = "huge"',
    'allowed_domains = "a"',
    'allowed_domains = [""]',
    'location = { planet = "x" }',
    'other = 1',
  ])('a table with %s is refused', async (line) => {
    const config = await load(`[tools.web_search]\n${line}\n`);
    // It takes the search away, and blocks no thread.
    expect(
      webSearch(config, chooseProvider(config, 'openai').provider, { fullAccess: false }),
    ).toBeNull();
    expect(() => config.get('tools.web_search')).toThrow(
      /tools\.web_search: expected true, false, or a table of context_size/,
    );
  });
});

describe('the warning about web search that cannot be', () => {
  const warningsOf = async (text: string) => {
    const home = tempFolder({ 'config.toml': text });
    return (await configWarnings(sourcesIn(home))).map(({ summary }) => summary);
  };
  const SUMMARY = 'web_search has no effect: the provider own does not have the Responses API';

  test('names the provider', async () => {
    expect(await warningsOf(`web_search = "live"\n${CHAT}`)).toEqual([SUMMARY]);
    expect(await warningsOf(`${CHAT}[tools]\nweb_search = true\n`)).toEqual([SUMMARY]);
  });

  test('is not sent where nobody asked, or where it works', async () => {
    expect(await warningsOf(CHAT)).toEqual([]);
    expect(await warningsOf(`web_search = "disabled"\n${CHAT}`)).toEqual([]);
    expect(await warningsOf(`web_search = "live"\n${CUSTOM}`)).toEqual([]);
  });
});
