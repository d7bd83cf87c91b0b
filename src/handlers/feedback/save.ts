import { isAbsolute } from 'node:path';
import type { Env } from '../../base/env.ts';
import { OwnFileError } from '../../base/files/file-refused-error.ts';
import { openNewFile } from '../../base/files/open-new-file.ts';
import type { Config } from '../../config/config.ts';
import { configuredSecrets } from '../../config/configured-secrets.ts';
import { validOrNull } from '../../config/valid-or-null.ts';
import { removePath } from '../../files/remove-path.ts';
import { whyNotWritten } from '../../files/why-not-written.ts';
import { fileFailed } from '../../protocol/errors/file-errors.ts';
import type { FeedbackSaveParams } from '../../protocol/generated/types.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import { jsonRedactor } from '../../secrets/json-redactor.ts';
import { knownSecrets } from '../../secrets/known-secrets.ts';
import { longestFirst } from '../../secrets/redact.ts';
import { createReport } from '../feedback-report/create-report.ts';
import { readAttachments } from '../feedback-report/read-attachments.ts';
import { ReportMask } from '../feedback-report/report-mask.ts';
import { type MethodTable, unqueued } from '../requested/method.ts';
import type { Diagnostics } from '../server/diagnostics.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

/** How many of the thread's last items a report has. */
const ITEMS_MAX = 50;
/** The longest reason, and the most tags. */
const REASON_CHARS_MAX = 64 * 1024;
const TAGS_MAX = 100;

interface ReportServices extends Pick<ThreadServices, 'threads' | 'store' | 'ids' | 'clock'> {
  /** The server's own environment. */
  env: Env;
  config: () => Promise<Config>;
  /** The logins to MCP servers. */
  credentials: { secrets(): readonly string[] };
  /** The version of heddle. */
  version: string;
  platform: NodeJS.Platform;
  diagnostics: Pick<Diagnostics, 'node' | 'logMessages'>;
}

export function feedbackSaveMethods(deps: ReportServices) {
  return {
    'feedback/save': {
      order: unqueued,
      async handle(params) {
        check(params);
        const { savePath, threadId } = params;
        await save(savePath, await reportText(deps, params));
        return { savedPath: savePath, threadId: threadId ?? deps.ids.next(), promptHash: null };
      },
    },
  } satisfies Partial<MethodTable>;
}

function check({ savePath, reason, tags, classification }: FeedbackSaveParams): void {
  if (!isAbsolute(savePath))
    throw invalidParams(`params.savePath: ${JSON.stringify(savePath)} is not an absolute path`);
  if (classification.trim() === '') throw invalidParams('params.classification must not be empty');
  for (const [name, text] of Object.entries({
    reason: reason ?? '',
    classification,
    tags: JSON.stringify(tags ?? {}),
  }))
    if (text.length > REASON_CHARS_MAX)
      throw invalidParams(`params.${name} must have at most ${REASON_CHARS_MAX} characters`);
  if (Object.keys(tags ?? {}).length > TAGS_MAX)
    throw invalidParams(`params.tags must have at most ${TAGS_MAX} entries`);
}

/**
 * Only with `includeLogs` does the report have what the user, the model and the server have
 * written.
 */
async function reportText(deps: ReportServices, params: FeedbackSaveParams): Promise<string> {
  const { threads, store, clock, env, version, platform, diagnostics } = deps;
  const { threadId, includeLogs, extraLogFiles } = params;
  const withLogs = includeLogs === true;
  const thread = threadId ? await threads.record(threadId) : null;
  const attachments = await readAttachments(extraLogFiles ?? []);
  const items =
    withLogs && thread !== null
      ? (await store.listItems(thread.id, { turnId: null, direction: 'desc', limit: ITEMS_MAX }))
          .data
      : [];
  const server = {
    version,
    platform,
    node: diagnostics.node,
    createdAtMs: clock.now(),
  };
  const secrets = await knownSecretsOf(deps, threadId ?? null);
  const content = {
    params,
    thread,
    items,
    logs: withLogs ? diagnostics.logMessages() : [],
    attachments,
    server,
  };
  return createReport(content, new ReportMask(jsonRedactor(env, secrets), secrets));
}

/**
 * The secrets of the configuration, of the thread's too if it is loaded, and of logins to MCP
 * servers. The longest first.
 */
async function knownSecretsOf(
  { config, threads, credentials, env }: ReportServices,
  threadId: string | null,
): Promise<string[]> {
  const configs = [
    await validOrNull(config),
    threadId === null ? null : (threads.find(threadId)?.configuration.config ?? null),
  ];
  const configured = configs.flatMap((one) => (one === null ? [] : configuredSecrets(one)));
  return longestFirst([...knownSecrets(env), ...configured, ...credentials.secrets()]);
}

/**
 * Creates the file, which only its user can read; if it cannot be written, there is none. Rejects
 * with the client's error.
 */
async function save(path: string, text: string): Promise<void> {
  try {
    const file = await openNewFile(path, 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } catch (error) {
      await removePath(path, { recursive: false, force: true });
      throw error;
    } finally {
      await file.close();
    }
  } catch (error) {
    throw saveError(error, path);
  }
}

function saveError(error: unknown, path: string): unknown {
  if (error instanceof OwnFileError)
    return fileFailed('file_failed', `the report was not saved: ${error.message}`, path);
  const why = whyNotWritten(error);
  if (why === null) return error;
  return fileFailed(
    'file_failed',
    `the report was not saved at ${path}: ${why}. Correct that, or choose another params.savePath`,
    path,
  );
}
