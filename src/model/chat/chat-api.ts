import type { ProviderApi } from '../http/provider-api.ts';
import { chatBody } from './chat-body.ts';
import { CHAT_PARAMETERS } from './chat-parameters.ts';
import { ChatTranslator } from './chat-translator.ts';
import { REPLAYED_THOUGHTS } from './replayed-thoughts.ts';

/** The Chat Completions API. Most servers have it, with differences. */
export const chatApi: ProviderApi = {
  path: 'chat/completions',
  parameters: [...CHAT_PARAMETERS, ...REPLAYED_THOUGHTS],
  body: chatBody,
  translator: (endpoint, request) => new ChatTranslator(endpoint, request),
};
