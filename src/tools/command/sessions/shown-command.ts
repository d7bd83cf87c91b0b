import { StringDecoder } from 'node:string_decoder';
import type { Clock, Timer } from '../../../base/clock.ts';
import type { ThreadItem } from '../../../protocol/generated/types.ts';
import type { OutputStream } from '../../../sandbox/processes/processes.ts';
import type { OpenItem } from '../../action.ts';
import { KeptText } from './kept-text.ts';

export type CommandItem = Extract<ThreadItem, { type: 'commandExecution' }>;

/** How much of a command's output its item keeps, in UTF-16 units: its beginning and its end. */
const OUTPUT_CHARS_MAX = 1024 * 1024;
/** How much of it is put aside, time and again, while the command runs. */
const ASIDE_CHARS_MAX = 128 * 1024;
/** How much of the output that the model has not read yet is kept for it. */
const UNREAD_CHARS_MAX = 256 * 1024;
/** Output is told in larger parts while it comes fast: so long after the last part, or as soon as it is this much. */
const DELTA_AGE_MS_MAX = 30;
const DELTA_CHARS_MAX = 64 * 1024;

/** How a command ended. `ran`: false if it never started. */
type CommandEnding = Pick<CommandItem, 'status' | 'exitCode'> & { ran?: boolean };

/** What output can be held back at. */
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
 * A command as clients see it: an item that has begun, its output as it comes, and its end. Output is held back at its
 * source while clients do not read.
 */
export class ShownCommand {
  readonly #options: ShownCommandOptions;
  readonly #kept = new KeptText(OUTPUT_CHARS_MAX);
  readonly #decoders: Record<OutputStream, StringDecoder> = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  #unread = new KeptText(UNREAD_CHARS_MAX);
  #delta = '';
  #timer: Timer | null = null;
  #source: Source | null = null;
  #muted = false;
  #completed: Promise<void> | null = null;

  constructor(options: ShownCommandOptions) {
    this.#options = options;
  }

  get itemId(): string {
    return this.#options.item.id;
  }

  /** The item as it is now. */
  get item(): CommandItem {
    return this.#item(OUTPUT_CHARS_MAX);
  }

  #item(outputCharsMax: number): CommandItem {
    const aggregatedOutput = this.#kept.isEmpty ? null : this.#kept.text(outputCharsMax, outputLeftOut);
    return { ...this.#options.item, aggregatedOutput };
  }

  /** Where the output comes from from now on. */
  readFrom(source: Source): void {
    this.#source = source;
  }

  take(stream: OutputStream, bytes: Buffer): void {
    this.#grow(this.#decoders[stream].write(bytes));
  }

  /** The output that has come since this was last asked. */
  takeUnread(): KeptText {
    const unread = this.#unread;
    this.#unread = new KeptText(UNREAD_CHARS_MAX);
    return unread;
  }

  /** Tells no more output, and holds none back: the command is being killed, and clients may never read again. */
  mute(): void {
    this.#muted = true;
    this.#delta = '';
    this.#timer?.clear();
    this.#source?.resume();
  }

  /** Resolves when the item has completed, if it has begun to. */
  get whole(): Promise<void> | null {
    return this.#completed;
  }

  /** Completes the item, once: for a command whose call has returned. */
  complete(end: CommandEnding): Promise<void> {
    this.#completed ??= this.#options.open.complete(this.ended(end));
    return this.#completed;
  }

  /** The item as it completes. A character that was cut off in its middle is shown as such. */
  ended({ status, exitCode = null, ran = true }: CommandEnding): CommandItem {
    this.endOutput();
    const durationMs = ran ? Math.round(this.#options.clock.monotonic() - this.#options.open.startedMs) : null;
    return { ...this.item, status, exitCode, durationMs };
  }

  /** What its source said is over: tells what has not been told yet. */
  endOutput(): void {
    for (const decoder of Object.values(this.#decoders)) this.#grow(decoder.end());
    this.#tell();
    this.#timer?.clear();
    this.#timer = null;
  }

  /** Adds a text of the server's own. */
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
  return `\n[… ${chars} characters of output left out …]\n`;
}
