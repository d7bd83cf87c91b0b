import type { Clock } from '../../base/clock.ts';
import type { ModelEvent } from '../../model/model.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import { streamedChanges, streamedInput } from '../../tools/apply-patch/diff/streamed-changes.ts';

const PREVIEW_INTERVAL_MS = 100;
/** From this size on a patch is only told again once it has grown by a quarter, so that all of it is told a few times at most. */
const PREVIEW_CHARS_SMALL = 16 * 1024;
const GROWTH_MIN = 1.25;

type CallDelta = Extract<ModelEvent, { type: 'callDelta' }>;

interface Preview {
  pieces: string[];
  chars: number;
  custom: boolean;
  toldChars: number;
  toldAtMs: number;
}

interface PatchPreviewsOptions {
  threadId: string;
  turnId: string;
  clock: Clock;
  announce: (announcement: Announcement) => void;
}

/** Shows clients the patches that a model is writing, before they are applied: `item/fileChange/patchUpdated`. */
export class PatchPreviews {
  readonly #options: PatchPreviewsOptions;
  readonly #open = new Map<string, Preview>();

  constructor(options: PatchPreviewsOptions) {
    this.#options = options;
  }

  take({ callId, name, custom, delta }: CallDelta): void {
    if (name !== 'apply_patch') return;
    const preview = this.#open.get(callId) ?? { pieces: [], chars: 0, custom, toldChars: 0, toldAtMs: Number.NEGATIVE_INFINITY };
    this.#open.set(callId, preview);
    preview.pieces.push(delta);
    preview.chars += delta.length;
    const { toldChars, toldAtMs, chars } = preview;
    const isDue = this.#options.clock.monotonic() - toldAtMs >= PREVIEW_INTERVAL_MS;
    if (isDue && (chars <= PREVIEW_CHARS_SMALL || chars >= toldChars * GROWTH_MIN)) this.#tell(callId, preview);
  }

  /** Tells what has come since the last time: the call is whole. */
  complete(callId: string): void {
    const preview = this.#open.get(callId);
    this.#open.delete(callId);
    if (preview !== undefined && preview.toldChars < preview.chars) this.#tell(callId, preview);
  }

  /** Forgets what has begun: it will be written anew. */
  drop(): void {
    this.#open.clear();
  }

  #tell(callId: string, preview: Preview): void {
    const { threadId, turnId, clock, announce } = this.#options;
    const written = preview.pieces.join('');
    preview.pieces = [written];
    const changes = streamedChanges(preview.custom ? written : streamedInput(written));
    if (changes.length === 0) return;
    preview.toldChars = preview.chars;
    preview.toldAtMs = clock.monotonic();
    announce({ method: 'item/fileChange/patchUpdated', params: { threadId, turnId, itemId: callId, changes } });
  }
}
