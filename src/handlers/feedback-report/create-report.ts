import type { FeedbackSaveParams } from '../../protocol/generated/types.ts';
import { PROTOCOL_VERSION } from '../../protocol/protocol-version.ts';
import type { StoredItem } from '../../store/log-entry.ts';
import type { ThreadRecord, ThreadSettings } from '../../store/thread-record.ts';
import type { Attachment } from './read-attachments.ts';
import type { ReportMask } from './report-mask.ts';

export interface ReportContent {
  params: FeedbackSaveParams;
  /** Null: the report is about no thread. */
  thread: ThreadRecord | null;
  /** The thread's last items, newest first. */
  items: readonly StoredItem[];
  /** The server's last log messages, each as JSON text. */
  logs: readonly string[];
  attachments: readonly Attachment[];
  server: { version: string; platform: string; node: string; createdAtMs: number };
}

/** The text of a report: readable JSON, without secrets. */
export async function createReport(content: ReportContent, mask: ReportMask): Promise<string> {
  const { params, thread, items, logs, attachments, server } = content;
  const { classification, reason = null, tags = null, threadId = null, includeLogs } = params;
  const attached = [];
  for (const { text, ...file } of attachments)
    attached.push({ ...file, text: await mask.text(text) });
  const report = {
    report: 'heddle feedback',
    createdAt: new Date(server.createdAtMs).toISOString(),
    server: {
      version: server.version,
      protocolVersion: PROTOCOL_VERSION,
      node: server.node,
      platform: server.platform,
    },
    feedback: {
      ...((await mask.value({ classification, tags })) as object),
      reason: reason === null ? null : await mask.text(reason),
    },
    threadId,
    thread:
      thread === null
        ? null
        : await mask.value({
            ...shownThread(thread),
            ...(includeLogs === true ? ownTexts(thread) : {}),
          }),
    items: await mask.values([...items].reverse().map(({ item, turnId }) => ({ turnId, item }))),
    logs: await mask.values(logs),
    attachments: attached,
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** The facts of a thread that nobody has written. */
function shownThread({ settings, clientTools, goal, queue, ...record }: ThreadRecord): object {
  const {
    id,
    sessionId,
    createdAtMs,
    updatedAtMs,
    recencyAtMs,
    archivedAtMs,
    listed,
    ephemeral,
    forkedFromId,
  } = record;
  const {
    source,
    threadSource,
    originator,
    cliVersion,
    tokenUsage,
    memoryMode,
    daybreakEnabled,
    agentClosedAtMs,
    spawnTurnId,
  } = record;
  return {
    ...{
      id,
      sessionId,
      createdAtMs,
      updatedAtMs,
      recencyAtMs,
      archivedAtMs,
      listed,
      ephemeral,
      forkedFromId,
    },
    ...{
      source,
      threadSource,
      originator,
      cliVersion,
      tokenUsage,
      memoryMode,
      daybreakEnabled,
      agentClosedAtMs,
      spawnTurnId,
    },
    settings: shownSettings(settings),
    clientTools: clientTools !== null,
    goal: goal?.status ?? null,
    queue: queue?.waiting.length ?? 0,
  };
}

function shownSettings({
  baseInstructions,
  developerInstructions,
  collaborationMode,
  ...settings
}: ThreadSettings): object {
  return {
    ...settings,
    collaborationMode: { mode: collaborationMode.mode },
    baseInstructions: baseInstructions !== null,
    developerInstructions: developerInstructions !== null,
  };
}

/** The texts of the user, the model and git about a thread. */
function ownTexts({ name, preview, goal, gitInfo, path }: ThreadRecord): object {
  return { name, preview, goal, gitInfo, path };
}
