import { configReadResponse } from '../config/config-read-response.ts';
import type { ConfigWriteResponse } from '../protocol/generated/types.ts';
import type { ConfigWrite } from './config-writing/config-writer.ts';
import type { Configured } from './config-writing/configured.ts';
import {
  beforeOthers,
  type MethodTable,
  type RequestContext,
  unqueued,
} from './requested/method.ts';
import type { ThreadServices } from './thread-loading/thread-services.ts';

export function configMethods({
  config,
  configWriter,
  clients,
  threads,
}: Pick<Configured, 'config' | 'configWriter'> & Pick<ThreadServices, 'clients' | 'threads'>) {
  const write = async (
    what: ConfigWrite,
    { caller, after }: RequestContext,
  ): Promise<ConfigWriteResponse> => {
    const { answer, warnings } = await configWriter.write(what);
    after(() => {
      for (const warning of warnings)
        clients.publish({ connection: caller.id }, 'configWarning', warning);
    });
    return answer;
  };
  return {
    'config/read': {
      order: unqueued,
      async handle({ cwd, includeLayers }, { caller }) {
        return configReadResponse(await config(cwd ?? null), {
          includeLayers: includeLayers === true,
          experimental: caller.experimentalApi,
        });
      },
    },
    'config/value/write': {
      order: beforeOthers,
      handle({ keyPath, value, mergeStrategy, filePath, expectedVersion }, context) {
        return write(
          { edits: [{ keyPath, value, mergeStrategy }], ...target({ filePath, expectedVersion }) },
          context,
        );
      },
    },
    'config/batchWrite': {
      order: beforeOthers,
      async handle({ edits, filePath, expectedVersion, reloadUserConfig }, context) {
        const answer = await write({ edits, ...target({ filePath, expectedVersion }) }, context);
        if (reloadUserConfig === true) context.after(() => void threads.reloadConfiguration('all'));
        return answer;
      },
    },
  } satisfies Partial<MethodTable>;
}

function target({
  filePath,
  expectedVersion,
}: {
  filePath: string | null | undefined;
  expectedVersion: string | null | undefined;
}) {
  return { filePath: filePath ?? null, expectedVersion: expectedVersion ?? null };
}
