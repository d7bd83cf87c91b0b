import type { ProviderApi } from '../http/provider-api.ts';
import { chatBody } from './chat-body.ts';
import { ChatTranslator } from './chat-translator.ts';

/** APIs in the form of OpenAI's Chat Completions, which most servers speak, each in its own way. */
export const chatApi: ProviderApi = {
  path: 'chat/completions',
  body: chatBody,
  translator: (endpoint, request) => new ChatTranslator(endpoint, request),
};
