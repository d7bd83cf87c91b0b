import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { cutText } from '../../base/text/cut-text.ts';
import type { FeedbackSaveParams } from '../../protocol/generated/types.ts';
import { PROTOCOL_VERSION } from '../../protocol/protocol-version.ts';
import type { StoredItem, ThreadRecord } from '../../store/thread-store.ts';
import type { Attachment } from './read-attachments.ts';

/** The longest string of an item in a report, in characters. */
const ITEM_TEXT_CHARS_MAX = 4 * 1024;
/** Attached text is masked in pieces of about this length. */
const PIECE_CHARS = 16 * 1024;
/** So many characters count as one unit of work. */
const CHARS_A_UNIT = 20;

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

/**
 * The text of a report: readable JSON, without secrets. `redact` masks a JSON value; it is called for one small part after another, with
 * other work in between.
 */
export async function createReport(content: ReportContent, redact: (value: unknown) => unknown): Promise<string> {
  const { params, thread, items, logs, attachments, server } = content;
  const breaks = new EventLoopYield();
  const masked = async (value: unknown): Promise<unknown> => {
    const shown = redact(value);
    await breaks.worked((JSON.stringify(shown)?.length ?? 0) / CHARS_A_UNIT);
    return shown;
  };
  const all = async (values: readonly unknown[]): Promise<unknown[]> => {
    const shown = [];
    for (const value of values) shown.push(await masked(value));
    return shown;
  };
  const { classification, reason = null, tags = null, threadId = null } = params;
  const attached = [];
  for (const { text, ...file } of attachments) attached.push({ ...file, text: (await all(pieces(text))).join('') });
  const report = {
    report: 'heddle feedback',
    createdAt: new Date(server.createdAtMs).toISOString(),
    server: { version: server.version, protocolVersion: PROTOCOL_VERSION, node: server.node, platform: server.platform },
    feedback: await masked({ classification, reason, tags }),
    threadId,
    thread: thread === null ? null : await masked(shownThread(thread)),
    items: await all([...items].reverse().map(({ item, turnId }) => ({ turnId, item: withShortTexts(item) }))),
    logs: await all(logs),
    attachments: attached,
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}

function shownThread({ settings, clientTools, told: _, ...record }: ThreadRecord): object {
  const { baseInstructions, developerInstructions, ...others } = settings;
  return {
    ...record,
    settings: { ...others, baseInstructions: baseInstructions !== null, developerInstructions: developerInstructions !== null },
    clientTools: clientTools !== null,
  };
}

function withShortTexts(value: object): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, part: unknown) => (typeof part === 'string' ? cutText(part, ITEM_TEXT_CHARS_MAX) : part)),
  ) as unknown;
}

/** A text in pieces that end at ends of lines, so that no secret is divided. */
function pieces(text: string): string[] {
  const all: string[] = [];
  let piece = '';
  for (const line of text.split(/(?<=\n)/)) {
    piece += line;
    if (piece.length < PIECE_CHARS) continue;
    all.push(piece);
    piece = '';
  }
  return piece === '' ? all : [...all, piece];
}
