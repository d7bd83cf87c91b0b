import { cutText } from '../base/text/cut-text.ts';
import { LOCAL_ENVIRONMENT } from './requested/check-requested-sandbox.ts';
import { type MethodTable, unqueued } from './requested/method.ts';

/** The maximum length of a client's string in an error message. */
const SHOWN_CHARS_MAX = 100;

/**
 * Methods that clients call when they start, for features that this server does not have: apps,
 * plugins, remote control, voices. The results are empty, since some clients do not start if one of
 * these is refused.
 */
export function alwaysEmptyMethods() {
  return {
    'accountSession/list': {
      order: unqueued,
      handle: () => ({ activeSessionId: null, sessions: [] }),
    },
    'app/installed': { order: unqueued, handle: () => ({ apps: [] }) },
    'app/list': { order: unqueued, handle: () => ({ data: [], nextCursor: null }) },
    'environment/status': {
      order: unqueued,
      handle: ({ environmentId }) =>
        environmentId === LOCAL_ENVIRONMENT
          ? { status: 'ready', error: null }
          : {
              status: 'unknown',
              error: `unknown environment: ${cutText(environmentId, SHOWN_CHARS_MAX)}`,
            },
    },
    'memory/status': {
      order: unqueued,
      handle: () => ({ v2ConsolidatedThreads: 0, v2Ready: false }),
    },
    'plugin/installed': {
      order: unqueued,
      handle: () => ({ marketplaces: [], marketplaceLoadErrors: [] }),
    },
    'plugin/list': {
      order: unqueued,
      handle: () => ({ marketplaces: [], marketplaceLoadErrors: [], featuredPluginIds: [] }),
    },
    'plugin/search': { order: unqueued, handle: () => ({ data: [], nextCursor: null }) },
    'plugin/share/list': { order: unqueued, handle: () => ({ data: [] }) },
    'remoteControl/client/list': {
      order: unqueued,
      handle: () => ({ data: [], nextCursor: null }),
    },
    'remoteControl/status/read': {
      order: unqueued,
      handle: () => ({
        status: 'disabled',
        serverName: 'heddle',
        installationId: '',
        environmentId: null,
      }),
    },
    'thread/realtime/listVoices': {
      order: unqueued,
      handle: () => ({ voices: { v1: [], v2: [], v3: [], defaultV1: 'cove', defaultV2: 'marin' } }),
    },
  } satisfies Partial<MethodTable>;
}
