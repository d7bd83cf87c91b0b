import type { ProviderConfig } from './provider-config.ts';

/** The models that know the Responses API's own search for tools. */
const SEARCHING_MODELS = /^gpt-(5\.([5-9]|\d\d)|[6-9]|\d\d)(?!\d)/;

/** Whether a model at this provider can search for tools by a tool of the API itself. */
export function searchesTools(
  { wireApi }: Pick<ProviderConfig, 'wireApi'>,
  model: string,
): boolean {
  return (
    wireApi === 'responses' &&
    SEARCHING_MODELS.test(model.slice(model.lastIndexOf('/') + 1).toLowerCase())
  );
}
