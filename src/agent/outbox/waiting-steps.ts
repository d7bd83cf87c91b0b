import { jsonWeight } from '../../base/text/json-pieces.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import type { Step, StepSequence } from './step.ts';

/**
 * To store entries that are longer, in characters, takes some milliseconds. Other work runs before
 * and after it.
 */
const SHORT_CHARS_MAX = 256 * 1024;
/** The most steps in one write of the store. */
const STEPS_TOGETHER_MAX = 64;
/**
 * The most steps and deltas that should wait. Long entries count as the most: what they replace
 * stays in memory until they are stored.
 */
const WAITING_MAX = 64;
/** A long delta counts once more for each part of this many characters. */
const DELTA_PART_CHARS = 4096;

/** A step that waits to be stored and announced. */
export interface WaitingStep {
  step: Step;
  sequence: StepSequence | null;
  /** Announced after the step's own announcements. */
  deltas: Announcement[];
  /** The weight of its deltas and long entries. */
  weight: number;
  /** Whether it is stored by itself, because a write together with others has failed. */
  isAlone: boolean;
  done(): void;
  failed(error: unknown): void;
}

type Waiting = WaitingStep | { work(): Promise<void> };

/** The steps that wait in an outbox, in their order, and those that are being stored. */
export class WaitingSteps {
  /** The steps that are being stored. */
  storing: readonly WaitingStep[] = [];
  readonly #waiting: Waiting[] = [];
  /** The weight of the deltas and long entries of all steps. */
  #weight = 0;

  get next(): Waiting | undefined {
    return this.#waiting[0];
  }

  /** Whether so much waits that whoever makes more should wait. */
  get areMany(): boolean {
    return this.#waiting.length + this.#weight >= WAITING_MAX;
  }

  add(waiting: Omit<WaitingStep, 'deltas' | 'weight' | 'isAlone'>): void {
    const weight = areLong(waiting.step.entries ?? []) ? WAITING_MAX : 0;
    this.#weight += weight;
    this.#waiting.push({ ...waiting, deltas: [], weight, isAlone: false });
  }

  /** Adds work to be done between two steps. */
  addWork(work: () => Promise<void>): void {
    this.#waiting.push({ work });
  }

  /**
   * Adds a delta to the last step with announcements of its sequence. Returns false if none waits
   * or is being stored: then the delta waits for nothing.
   */
  addDelta(announcement: Announcement, sequence: StepSequence): boolean {
    const isBefore = (waiting: Waiting) => announces(waiting, sequence);
    const before = this.#waiting.findLast(isBefore) ?? this.storing.findLast(isBefore);
    if (before === undefined) return false;
    const weight = 1 + Math.floor(jsonWeight(announcement, SHORT_CHARS_MAX) / DELTA_PART_CHARS);
    before.deltas.push(announcement);
    before.weight += weight;
    this.#weight += weight;
    return true;
  }

  /** The deltas of an item that wait, in their order. */
  deltasOf(itemId: string): Announcement[] {
    const deltas = [...this.storing, ...this.#waiting].flatMap((waiting) =>
      'step' in waiting ? waiting.deltas : [],
    );
    return deltas.filter(({ params }) => 'itemId' in params && params.itemId === itemId);
  }

  /** Takes the next one. */
  shift(): void {
    this.#waiting.shift();
  }

  /** Takes the steps for one write. A long one is taken by itself. */
  take(): WaitingStep[] {
    const taken: WaitingStep[] = [];
    let chars = 0;
    for (const waiting of this.#waiting) {
      if ('work' in waiting) break;
      chars += jsonWeight(waiting.step.entries ?? [], SHORT_CHARS_MAX);
      const isAlone = waiting.isAlone || taken[0]?.isAlone === true;
      if (
        taken.length > 0 &&
        (isAlone || chars > SHORT_CHARS_MAX || taken.length === STEPS_TOGETHER_MAX)
      )
        break;
      taken.push(waiting);
    }
    this.#waiting.splice(0, taken.length);
    return taken;
  }

  /** Puts steps that were not stored together back to the front: each is then stored by itself. */
  putBack(steps: readonly WaitingStep[]): void {
    for (const waiting of steps) waiting.isAlone = true;
    this.#waiting.unshift(...steps);
  }

  /** The step is done, or has failed. */
  ended({ weight }: WaitingStep): void {
    this.#weight -= weight;
  }
}

/** Whether storing the entries takes some milliseconds. */
export function areLong(entries: readonly LogEntry[]): boolean {
  return jsonWeight(entries, SHORT_CHARS_MAX) > SHORT_CHARS_MAX;
}

function announces(waiting: Waiting, sequence: StepSequence): waiting is WaitingStep {
  return (
    'step' in waiting && waiting.sequence === sequence && (waiting.step.announce ?? []).length > 0
  );
}
