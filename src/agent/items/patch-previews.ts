import type { Clock } from '../../base/clock.ts';
import type { ModelEvent } from '../../model/model.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import { streamedChanges, streamedInput } from '../../tools/apply-patch/diff/streamed-changes.ts';

const PREVIEW_INTERVAL_MS = 100;
/**
 * A preview repeats the whole patch. Above this size it is only sent after the patch has grown by a
 * quarter, so a few times at most.
 */
const PREVIEW_CHARS_SMALL = 16 * 1024;
const GROWTH_MIN = 1.25;
/**
 * A larger patch is no longer shown while it is written, since each preview takes some
 * milliseconds. Its item shows all of it.
 */
const PREVIEW_CHARS_MAX = 1024 * 1024;

type CallDelta = Extract<ModelEvent, { type: 'callDelta' }>;

interface Preview {
  pieces: string[];
  chars: number;
  custom: boolean;
  shownChars: number;
  shownAtMs: number;
}

interface PatchPreviewsOptions {
  threadId: string;
  turnId: string;
  clock: Clock;
  announce: (announcement: Announcement) => void;
}

/** Shows clients a patch while the model writes it: `item/fileChange/patchUpdated`. */
export class PatchPreviews {
  readonly #options: PatchPreviewsOptions;
  readonly #open = new Map<string, Preview>();

  constructor(options: PatchPreviewsOptions) {
    this.#options = options;
  }

  take({ callId, name, custom, delta }: CallDelta): void {
    if (name !== 'apply_patch') return;
    const preview = this.#open.get(callId) ?? {
      pieces: [],
      chars: 0,
      custom,
      shownChars: 0,
      shownAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#open.set(callId, preview);
    preview.pieces.push(delta);
    preview.chars += delta.length;
    const { shownChars, shownAtMs, chars } = preview;
    if (chars > PREVIEW_CHARS_MAX) preview.pieces = [];
    const isDue =
      chars <= PREVIEW_CHARS_MAX &&
      this.#options.clock.monotonic() - shownAtMs >= PREVIEW_INTERVAL_MS;
    if (isDue && (chars <= PREVIEW_CHARS_SMALL || chars >= shownChars * GROWTH_MIN))
      this.#show(callId, preview);
  }

  /** The call is complete: shows the rest of the patch. */
  complete(callId: string): void {
    const preview = this.#open.get(callId);
    this.#open.delete(callId);
    if (
      preview !== undefined &&
      preview.shownChars < preview.chars &&
      preview.chars <= PREVIEW_CHARS_MAX
    )
      this.#show(callId, preview);
  }

  /** Forgets unfinished patches, because the model will write them again. */
  drop(): void {
    this.#open.clear();
  }

  #show(callId: string, preview: Preview): void {
    const { threadId, turnId, clock, announce } = this.#options;
    const written = preview.pieces.join('');
    preview.pieces = [written];
    const changes = streamedChanges(preview.custom ? written : streamedInput(written));
    if (changes.length === 0) return;
    preview.shownChars = preview.chars;
    preview.shownAtMs = clock.monotonic();
    announce({
      method: 'item/fileChange/patchUpdated',
      params: { threadId, turnId, itemId: callId, changes },
    });
  }
}
