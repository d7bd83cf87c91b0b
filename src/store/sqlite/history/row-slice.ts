import { ALL, type LogRow, type RowReading, type Selection } from './log-row.ts';

export interface Slicing extends RowReading {
  selection: Selection;
  bytesMax: number;
}

/**
 * The first rows of a selection, as they are read: as many as stay within the limits of rows and of
 * bytes, but at least one.
 */
export class RowSlice {
  readonly rows: LogRow[] = [];
  /** The size of their entries, approximately, in bytes of JSON. */
  bytes = 0;
  /** Whether the slice ends because of its bytes. */
  isCut = false;
  readonly #limits: Slicing;
  readonly #sizeOf: (row: LogRow) => number;

  constructor(limits: Slicing, sizeOf: (row: LogRow) => number) {
    this.#limits = limits;
    this.#sizeOf = sizeOf;
  }

  /** How many more rows it can have; ALL: any number. */
  get rest(): number {
    const { limit } = this.#limits;
    return limit === ALL ? ALL : limit - this.rows.length;
  }

  get isEnded(): boolean {
    return this.isCut || this.rest === 0;
  }

  /** Adds a row if it still fits. Returns false if no more can follow. */
  take(row: LogRow): boolean {
    const size = this.#sizeOf(row);
    this.isCut = this.#exceeds(size);
    if (this.isCut) return false;
    this.rows.push(row);
    this.bytes += size;
    return !this.isEnded;
  }

  /**
   * Adds the rows of the tail. They are never divided because of their bytes: they are not stored
   * yet, so their positions may change.
   */
  takeTail(tail: LogRow[]): void {
    if (this.isCut || tail.length === 0) return;
    const bytes = tail.reduce((sum, row) => sum + this.#sizeOf(row), 0);
    this.isCut = this.#exceeds(bytes);
    if (this.isEnded) return;
    this.rows.push(...(this.rest === ALL ? tail : tail.slice(0, this.rest)));
    this.bytes += bytes;
  }

  #exceeds(bytes: number): boolean {
    return this.rows.length > 0 && this.bytes + bytes > this.#limits.bytesMax;
  }
}
