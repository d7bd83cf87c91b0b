import { StringDecoder } from 'node:string_decoder';
import type { Clock, Timer } from '../../../base/clock.ts';
import type { UntimedItem } from '../../../protocol/generated/types.ts';
import type { OutputStream } from '../../../sandbox/processes/processes.ts';
import type { OpenItem } from '../../action.ts';
import { KeptText } from './kept-text.ts';

export type CommandItem = Extract<UntimedItem, { type: 'commandExecution' }>;

/**
 * The most output that the item keeps, in UTF-16 code units. The middle of longer output is cut
 * out.
 */
const OUTPUT_CHARS_MAX = 1024 * 1024;
/** The most output in the item that is saved repeatedly while the command runs. */
const ASIDE_CHARS_MAX = 128 * 1024;
/** The most output that is kept for the model's next report. */
const UNREAD_CHARS_MAX = 256 * 1024;
/**
 * Fast output is sent in larger deltas: a delta is sent after this time, or when it has this size.
 */
const DELTA_AGE_MS_MAX = 30;
const DELTA_CHARS_MAX = 64 * 1024;

interface CommandEnding {
  /** Null or absent: the command has no exit code. */
  exitCode?: number | null;
  /** Absent: `completed` after exit code 0, otherwise `failed`. */
  status?: CommandItem['status'];
  /** False if the command never started. */
  ran?: boolean;
}

/** A source of output that can be paused. */
interface Source {
  pause(): void;
  resume(): void;
}

interface ShownCommandOptions {
  item: CommandItem;
  open: OpenItem;
  threadId: string;
  turnId: string;
  clock: Clock;
}

/**
 * Shows a command to clients: its item, its output as it comes, and its end. The source of the
 * output is paused while clients do not read.
 */
export class ShownCommand {
  readonly #options: ShownCommandOptions;
  readonly #kept = new KeptText(OUTPUT_CHARS_MAX);
  readonly #decoders: Record<OutputStream, StringDecoder> = {
    stdout: new StringDecoder('utf8'),
    stderr: new StringDecoder('utf8'),
  };
  #unread = new KeptText(UNREAD_CHARS_MAX);
  readonly #told: string[] = [];
  #delta = '';
  #timer: Timer | null = null;
  #source: Source | null = null;
  #muted = false;
  #completed: Promise<void> | null = null;

  constructor(options: ShownCommandOptions) {
    this.#options = options;
  }

  /** Its item, which has not completed while the command runs. */
  get open(): OpenItem {
    return this.#options.open;
  }

  /** How much the command has written so far. */
  get outputBytes(): number {
    return this.#kept.bytes;
  }

  get itemId(): string {
    return this.#options.item.id;
  }

  /** The item as it is now. */
  get item(): CommandItem {
    return this.#item(OUTPUT_CHARS_MAX);
  }

  #item(outputCharsMax: number): CommandItem {
    const aggregatedOutput = this.#kept.isEmpty
      ? null
      : this.#kept.text(outputCharsMax, outputLeftOut);
    return { ...this.#options.item, aggregatedOutput };
  }

  /** Sets the source of the output that follows. */
  readFrom(source: Source): void {
    this.#source = source;
  }

  take(stream: OutputStream, bytes: Buffer): void {
    this.#grow(this.#decoders[stream].write(bytes));
  }

  /** Returns the output since the last call. */
  takeUnread(): KeptText {
    const unread = this.#unread;
    this.#unread = new KeptText(UNREAD_CHARS_MAX);
    return unread;
  }

  /** Adds a line to the model's next report that is not output. */
  tell(line: string): void {
    this.#told.push(line);
  }

  /** Returns the lines that `tell` has added since the last call. */
  takeTold(): string[] {
    return this.#told.splice(0);
  }

  /**
   * Sends no more output and resumes the source: the command is being killed, and clients may never
   * read again.
   */
  mute(): void {
    this.#muted = true;
    this.#delta = '';
    this.#timer?.clear();
    this.#source?.resume();
  }

  /** Resolves when the item is complete. Null if `complete` was not called. */
  get completing(): Promise<void> | null {
    return this.#completed;
  }

  /** Completes the item of a command whose call has returned. Harmless when repeated. */
  complete(end: CommandEnding): Promise<void> {
    this.#completed ??= this.#options.open.complete(this.ended(end));
    return this.#completed;
  }

  /**
   * Ends the output and returns the item as it completes. An incomplete UTF-8 character at the end
   * becomes U+FFFD.
   */
  ended({
    exitCode = null,
    status = exitCode === 0 ? 'completed' : 'failed',
    ran = true,
  }: CommandEnding): CommandItem {
    this.endOutput();
    const durationMs = ran
      ? Math.round(this.#options.clock.monotonic() - this.#options.open.startedMs)
      : null;
    return { ...this.item, status, exitCode, durationMs };
  }

  /** To be called when the source has ended: sends the rest of the output. */
  endOutput(): void {
    for (const decoder of Object.values(this.#decoders)) this.#grow(decoder.end());
    this.#tell();
    this.#timer?.clear();
    this.#timer = null;
  }

  /** Adds a message of the server to the output. */
  note(text: string): void {
    this.#grow(text);
  }

  #grow(text: string): void {
    if (text === '') return;
    this.#kept.append(text);
    this.#unread.append(text);
    if (this.#muted) return;
    this.#delta += text;
    if (this.#delta.length >= DELTA_CHARS_MAX || this.#timer === null) this.#tell();
  }

  #tell(): void {
    const { open, threadId, turnId, clock, item } = this.#options;
    this.#timer?.clear();
    this.#timer = null;
    if (this.#delta === '') return;
    const delta = this.#delta;
    this.#delta = '';
    open.update(() => this.#item(ASIDE_CHARS_MAX), {
      method: 'item/commandExecution/outputDelta',
      params: { threadId, turnId, itemId: item.id, delta },
    });
    this.#timer = clock.setTimer(() => this.#tell(), DELTA_AGE_MS_MAX);
    this.#holdBack(open.drained());
  }

  #holdBack(drained: Promise<void> | null): void {
    const source = this.#source;
    if (drained === null || source === null) return;
    source.pause();
    void drained.then(() => source.resume());
  }
}

function outputLeftOut(chars: number): string {
  return `\n[… ${chars} characters of output truncated …]\n`;
}
