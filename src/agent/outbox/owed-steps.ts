import type { Announcement } from '../../protocol/announcement.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import type { ThreadPatch } from '../../store/thread-record.ts';
import type { StepAddition } from './step.ts';

/** Steps that could not be stored, and are stored with the next one that succeeds. */
export class OwedSteps {
  #entries: LogEntry[] = [];
  #patch: ThreadPatch | null = null;
  /** Announced when the rest is stored. */
  readonly #announcements: Announcement[] = [];

  get entries(): readonly LogEntry[] {
    return this.#entries;
  }

  get patch(): ThreadPatch | null {
    return this.#patch;
  }

  /** Whether there is something to store. */
  get exist(): boolean {
    return this.#entries.length > 0 || this.#patch !== null;
  }

  add({ entries = [], patch, announce = [] }: StepAddition): void {
    this.#entries.push(...entries);
    if (patch !== undefined) this.#patch = { ...this.#patch, ...patch };
    this.#announcements.push(...announce);
  }

  /** Entries and patch are stored. */
  stored(): void {
    this.#entries = [];
    this.#patch = null;
  }

  /** Takes what is to be announced. */
  takeAnnouncements(): Announcement[] {
    return this.#announcements.splice(0);
  }
}
