import type { ProviderApi } from '../http/provider-api.ts';
import { REPLAYED_REASONING } from './replayed-reasoning.ts';
import { beginBody, requestBody } from './request-body.ts';
import { RESPONSE_PARAMETERS } from './response-parameters.ts';
import { ResponseTranslator } from './response-translator.ts';

/** The Responses API. */
export const responsesApi: ProviderApi = {
  path: 'responses',
  parameters: [...RESPONSE_PARAMETERS, ...REPLAYED_REASONING],
  body: requestBody,
  beginBody,
  translator: (endpoint, request) => new ResponseTranslator(endpoint, request),
};
