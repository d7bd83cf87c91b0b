import { isAbsolute } from 'node:path';
import type { HookDefinition, HookSet } from '../../config/hooks/hook-definition.ts';
import { ConfigError } from '../../config/toml/config-error.ts';
import { noRolloutFound } from '../../protocol/errors/thread-errors.ts';
import type { HookMetadata, HooksListEntry } from '../../protocol/generated/types.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import type { Configured } from '../config-writing/configured.ts';
import { type MethodTable, unqueued } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

/** The files of each folder are read, so a request names a limited number. */
const CWDS_MAX = 100;

export function hooksListMethods({
  store,
  threads,
  cwd: serverCwd,
  config,
}: Pick<Configured, 'config'> & Pick<ThreadServices, 'store' | 'threads' | 'cwd'>) {
  return {
    'hooks/list': {
      order: unqueued,
      async handle({ cwds: named, threadId }) {
        const cwds = named ?? [];
        if (cwds.length > CWDS_MAX)
          throw invalidParams(
            `cwds: at most ${CWDS_MAX} folders can be listed at once, found ${cwds.length}`,
          );
        const data: HooksListEntry[] = threadId ? [await ofThread(threadId)] : [];
        for (const cwd of cwds.length === 0 && !threadId ? [serverCwd] : cwds)
          data.push(await entry(cwd));
        return { data };
      },
    },
  } satisfies Partial<MethodTable>;

  /** The hooks of a loaded thread are those that it was loaded with. */
  async function ofThread(threadId: string): Promise<HooksListEntry> {
    const loaded = threads.find(threadId);
    if (loaded !== null) return shown(loaded.settings.cwd, loaded.configuration.config.hooks);
    const record = await store.getThread(threadId);
    if (record === null) throw noRolloutFound(threadId);
    return entry(record.settings.cwd);
  }

  async function entry(cwd: string): Promise<HooksListEntry> {
    if (!isAbsolute(cwd)) return failure(cwd, { path: cwd, message: 'expected an absolute path' });
    try {
      return shown(cwd, (await config(cwd)).hooks);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return failure(cwd, { path: error.location.path ?? cwd, message: error.message });
    }
  }
}

function failure(cwd: string, error: HooksListEntry['errors'][number]): HooksListEntry {
  return { cwd, hooks: [], warnings: [], errors: [error] };
}

function shown(cwd: string, { hooks, warnings, errors }: HookSet): HooksListEntry {
  return {
    cwd,
    hooks: hooks.map(metadata),
    warnings: warnings.map(({ message }) => message),
    errors: errors.map(({ path, message }) => ({ path, message })),
  };
}

function metadata(hook: HookDefinition): HookMetadata {
  return {
    key: hook.key,
    eventName: hook.event,
    ...handlerOf(hook),
    matcher: hook.matcher,
    timeoutSec: hook.timeoutSec,
    statusMessage: hook.statusMessage,
    additionalContextLimit: hook.contextTokensMax,
    sourcePath: hook.sourcePath,
    source: hook.source,
    pluginId: null,
    environmentId: null,
    displayOrder: hook.displayOrder,
    enabled: hook.isEnabled,
    isManaged: hook.trust === 'managed',
    currentHash: hook.hash,
    trustStatus: hook.trust,
  };
}

function handlerOf({ handler }: HookDefinition) {
  switch (handler.type) {
    case 'command':
      return { handlerType: handler.type, command: handler.command, async: handler.isAsync };
    case 'mcpTool':
      return { handlerType: handler.type, server: handler.server, tool: handler.tool };
    case 'prompt':
    case 'agent':
      return { handlerType: handler.type };
    default:
      return handler satisfies never;
  }
}
