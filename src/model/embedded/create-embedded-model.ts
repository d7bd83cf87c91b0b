import type { Clock } from '../../base/clock.ts';
import type { Model } from '../model.ts';
import { pacedEvents } from './answer-writer.ts';
import { embeddedResponse } from './embedded-response.ts';

/**
 * Creates the embedded model. It works offline, and the same input always gives the same events. It
 * carries out the lines of the last user message; docs/embedded-model.md is its manual.
 */
export function createEmbeddedModel({ clock }: { clock: Clock }): Model {
  return {
    isEmbedded: true,
    stream: (request, signal) => pacedEvents(embeddedResponse(request), clock, signal),
  };
}
