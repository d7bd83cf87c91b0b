import type { Config } from './config.ts';
import { errorThrownBy } from './config-errors.ts';
import { chooseProvider } from './providers/choose-provider.ts';
import type { ProviderConfig } from './providers/provider-config.ts';
import { allowedSearch } from './requirements/requirements.ts';
import { WEB_SEARCH_MODES, type WebSearchTable } from './settings/web-search-table.ts';
import { ConfigError, type LocatedWarning, NO_LOCATION } from './toml/config-error.ts';

/** How the provider searches the web for its model, with its own tool. */
export interface WebSearch extends Omit<WebSearchTable, 'enabled'> {
  /**
   * `cached`: only what the provider has stored. `indexed`: pages in its index. `live`: every page.
   */
  mode: 'cached' | 'indexed' | 'live';
}

/**
 * Returns how this provider searches the web in a turn; null: not at all. What the user has set is
 * in force for every provider that has the Responses API. Otherwise only OpenAI searches, since
 * others may refuse the tool: what it has stored, or all pages if the turn has full access to the
 * system. An invalid setting takes the search away; a `configWarning` says so.
 */
export function webSearch(
  config: Config,
  provider: ProviderConfig,
  { fullAccess }: { fullAccess: boolean },
): WebSearch | null {
  if (provider.wireApi !== 'responses') return null;
  return validSearch(
    config,
    provider.id === 'openai' ? (fullAccess ? 'live' : 'cached') : 'disabled',
  );
}

function validSearch(config: Config, byDefault: SearchDefault): WebSearch | null {
  try {
    return chosenSearch(config, byDefault);
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

type SearchDefault = WebSearch['mode'] | 'disabled';

/** `byDefault`: the mode of the provider if the user has set none. */
function chosenSearch(config: Config, byDefault: SearchDefault): WebSearch | null {
  const { enabled, ...choices } = config.get('tools.web_search');
  const older = config.get('features.web_search_request')
    ? 'live'
    : enabled === true && byDefault === 'disabled'
      ? 'cached'
      : byDefault;
  const wanted = config.get('web_search') ?? (enabled === false ? 'disabled' : older);
  const mode = allowedSearch(wanted, config.requirements.webSearchModes);
  return mode === 'disabled' ? null : { mode, ...choices };
}

/**
 * Whether no provider searches more with this configuration than with the other: with the same
 * mode, and on the same domains.
 */
export function searchesAtMost(config: Config, other: Config): boolean {
  return WEB_SEARCH_MODES.every((byDefault) => {
    const [wanted, limit] = [validSearch(config, byDefault), validSearch(other, byDefault)];
    if (wanted === null || limit === null) return wanted === null;
    const { allowedDomains: domains } = wanted;
    const isOnDomains =
      domains.length > 0 && domains.every((domain) => limit.allowedDomains.includes(domain));
    return (
      WEB_SEARCH_MODES.indexOf(wanted.mode) <= WEB_SEARCH_MODES.indexOf(limit.mode) &&
      (limit.allowedDomains.length === 0 || isOnDomains)
    );
  });
}

/** Whether the user has asked for web search. */
function asksForWebSearch(config: Config): boolean {
  const mode = config.get('web_search');
  return mode === null
    ? config.get('features.web_search_request') || config.get('tools.web_search').enabled === true
    : mode !== 'disabled';
}

const KEYS = [['web_search'], ['features', 'web_search_request'], ['tools', 'web_search']];

/** Says that the user has asked for web search at a provider that cannot search. */
export function idleWebSearch(config: Config): LocatedWarning[] {
  const isWrong =
    errorThrownBy(() => [chooseProvider(config, null), asksForWebSearch(config)]) !== null;
  if (config.modelGiven || isWrong || !asksForWebSearch(config)) return [];
  const { provider, embeddedDefault } = chooseProvider(config, null);
  // Another warning says that the provider is missing.
  if (provider.wireApi === 'responses' || embeddedDefault) return [];
  const key = KEYS.find((path) => config.layerOf(path) !== null) ?? [];
  return [
    {
      summary: `web_search has no effect: the provider ${provider.id} does not have the Responses API`,
      details:
        'Choose a provider with wire_api = "responses" that searches the web, or remove the setting.',
      location: config.layerOf(key)?.locate(key) ?? NO_LOCATION,
    },
  ];
}
