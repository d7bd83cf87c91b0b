import type { Ids } from '../../base/ids.ts';
import { cutText } from '../../base/text/cut-text.ts';
import type { ContentItem, ResponseItem } from '../../protocol/generated/types.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import { NAME_CHARS_MAX } from '../../store/thread-record.ts';
import { Fields } from '../fields.ts';
import { RolloutLog } from '../rollout-log.ts';
import { timeOf } from '../rollout-record.ts';
import { toolCallText, toolResultText } from './tool-call-text.ts';

/** The facts about a session in its file. */
export interface SessionFacts {
  /** The folder that it began in; null: not told. */
  cwd: string | null;
  gitBranch: string | null;
  /** The title that the user gave it, or else the one that the other agent made; null: none. */
  name: string | null;
  /** The text of the user's first message; null: there is none. */
  firstText: string | null;
  /** The time of the first message, in Unix milliseconds; null: not told. */
  createdAtMs: number | null;
}

/** The most parts of a message. One with more is left out. */
const BLOCKS_MAX = 1_000;
const FIRST_TEXT_CHARS_MAX = 1_000;

/**
 * Reads the records of a session of Claude Code: the messages of the user and the agent, and its
 * calls of tools as texts.
 */
export class SessionReader {
  readonly #ids: Ids;
  readonly #latestMs: number;
  #log: RolloutLog | null = null;
  #titles: { own: string | null; made: string | null } = { own: null, made: null };
  #messages = 0;
  #updatedAtMs: number | null = null;
  #facts: Omit<SessionFacts, 'name'> = {
    cwd: null,
    gitBranch: null,
    firstText: null,
    createdAtMs: null,
  };

  /**
   * `latestMs`: the time now, in Unix milliseconds. No message is later, or earlier than 1970: such
   * a time is not told.
   */
  constructor(ids: Ids, latestMs: number) {
    this.#ids = ids;
    this.#latestMs = latestMs;
  }

  get facts(): SessionFacts {
    const name = this.#titles.own ?? this.#titles.made;
    return { ...this.#facts, name: name === null ? null : cutText(name, NAME_CHARS_MAX) };
  }

  /** The time of the last message that has one, in Unix milliseconds; null: none has. */
  get updatedAtMs(): number | null {
    return this.#updatedAtMs;
  }

  /** Resolves with the log to store. Must be the last call. */
  async entries(): Promise<LogEntry[]> {
    return this.#log === null ? [] : this.#log.entries();
  }

  /** How many messages the log has. */
  get messages(): number {
    return this.#messages;
  }

  /** Takes a record. Returns false if it is none, or has too many parts. */
  take(record: Fields): boolean {
    switch (record.text('type')) {
      case null:
        return false;
      case 'custom-title':
        this.#titles.own = textOf(record, 'customTitle') ?? this.#titles.own;
        break;
      case 'ai-title':
        this.#titles.made = textOf(record, 'aiTitle') ?? this.#titles.made;
        break;
      case 'user':
      case 'assistant':
        return this.#takeMessage(record);
      default:
    }
    return true;
  }

  #takeMessage(record: Fields): boolean {
    // The messages of its sub-agents, and those that the other agent has added for its model.
    if (
      record.flag('isSidechain') === true ||
      record.flag('isMeta') === true ||
      record.flag('isApiErrorMessage') === true
    )
      return true;
    const facts = this.#facts;
    facts.cwd ??= textOf(record, 'cwd');
    facts.gitBranch ??= textOf(record, 'gitBranch');
    const atMs = this.#timeOf(record);
    const message = record.object('message');
    const text = message.text('content');
    if (message.list('content').length > BLOCKS_MAX) return false;
    const blocks =
      text === null ? message.objects('content') : [new Fields({ type: 'text', text })];
    if (record.text('type') === 'assistant') this.#agentSaid(blocks, atMs);
    else if (record.flag('isCompactSummary') === true) this.#summarized(blocks, atMs);
    else this.#userSaid(blocks, atMs);
    return true;
  }

  #timeOf(record: Fields): number | null {
    const atMs = timeOf(record.text('timestamp'));
    return atMs !== null && atMs >= 0 && atMs <= this.#latestMs ? atMs : null;
  }

  #agentSaid(blocks: readonly Fields[], atMs: number | null): void {
    for (const block of blocks) {
      if (block.text('type') === 'text') this.#say(block.text('text') ?? '', atMs);
      else if (block.text('type') === 'tool_use') this.#say(toolCallText(block), atMs);
    }
  }

  #userSaid(blocks: readonly Fields[], atMs: number | null): void {
    for (const block of blocks)
      if (block.text('type') === 'tool_result') this.#say(toolResultText(block), atMs);
    const content = blocks.flatMap(contentPart);
    if (content.length === 0) return;
    const text = content.map((part) => ('text' in part ? part.text : '')).join('\n');
    this.#facts.firstText ??= cutText(text, FIRST_TEXT_CHARS_MAX);
    this.#messages++;
    this.#logAt(atMs).addTypedMessage(content);
  }

  /** The other agent's model goes on from here with the summary alone. */
  #summarized(blocks: readonly Fields[], atMs: number | null): void {
    const text = blocks.map((block) => block.text('text') ?? '').join('\n');
    if (text.trim() === '') return;
    const item: ResponseItem = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text }],
    };
    this.#logAt(atMs).compact([item], text);
  }

  #say(text: string, atMs: number | null): void {
    if (text.trim() === '') return;
    this.#messages++;
    this.#logAt(atMs).addModelItem({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text }],
    });
  }

  #logAt(atMs: number | null): RolloutLog {
    this.#facts.createdAtMs ??= atMs;
    this.#log ??= new RolloutLog(this.#ids, atMs ?? this.#latestMs);
    this.#updatedAtMs = atMs ?? this.#updatedAtMs;
    this.#log.advance(atMs);
    return this.#log;
  }
}

function contentPart(block: Fields): ContentItem[] {
  switch (block.text('type')) {
    case 'text': {
      const text = block.text('text') ?? '';
      return text.trim() === '' ? [] : [{ type: 'input_text', text }];
    }
    case 'image': {
      const source = block.object('source');
      const data = source.text('data');
      if (source.text('type') !== 'base64' || data === null)
        return [{ type: 'input_text', text: '[image]' }];
      return [
        {
          type: 'input_image',
          image_url: `data:${source.text('media_type') ?? 'image/png'};base64,${data}`,
        },
      ];
    }
    case 'document':
      return [{ type: 'input_text', text: '[document]' }];
    default:
      return [];
  }
}

function textOf(record: Fields, key: string): string | null {
  const text = record.text(key)?.trim() ?? '';
  return text === '' ? null : text;
}
