import { join } from 'node:path';
import { readRegularFileSync } from '../../base/files/read-regular-file.ts';
import { makePrivate } from '../../base/paths/make-private.ts';
import { appendLine } from './append-line.ts';
import {
  parseTrustRecord,
  TRUST_RECORD,
  type TrustLine,
  type TrustRecord,
} from './trust-record.ts';

/** Room for thousands of decisions, which take about 15 ms to read. */
const RECORD_BYTES_MAX = 512 * 1024;

/**
 * The record of trusted files cannot be read or written. The message names the file and says what
 * to do.
 */
export class TrustError extends Error {
  override readonly name = 'TrustError';
}

export interface TrustRecordFileOptions {
  home: string;
  /** False: nothing is written, and decisions count only for this object. Default: true. */
  writes?: boolean;
}

/**
 * The contents of project files that the user trusts, recorded in the home. Several processes may
 * use a record at once: each reads it again for each thread, and only appends to it.
 */
export class TrustRecordFile {
  /** The absolute path of the record. */
  readonly path: string;
  readonly #writes: boolean;
  /** Lines that are not in the file. */
  #kept: string[] = [];
  /** The text that was read last, and what it says: it rarely changes. */
  #last: { text: string; record: TrustRecord } | null = null;
  #unreadable: TrustError | null = null;
  #unwritable: TrustError | null = null;

  constructor({ home, writes = true }: TrustRecordFileOptions) {
    this.path = join(home, TRUST_RECORD);
    this.#writes = writes;
  }

  /** The reason why the last read of the record, or any write to it, failed. Null if none did. */
  get problem(): TrustError | null {
    return this.#unreadable ?? this.#unwritable;
  }

  /** Reads the record. Throws a TrustError if it cannot be read. Then nothing is trusted. */
  read(): TrustRecord {
    try {
      const text = this.#readText() + this.#kept.join('\n');
      const record = this.#last?.text === text ? this.#last.record : parseTrustRecord(text);
      if ('invalidLine' in record) throw new Error(`line ${record.invalidLine} is not valid`);
      this.#last = { text, record };
      this.#unreadable = null;
      return record;
    } catch (error) {
      this.#unreadable = new TrustError(
        `${this.path} cannot be read: ${reasonOf(error)}. ${UNREADABLE}`,
        { cause: error },
      );
      throw this.#unreadable;
    }
  }

  /**
   * Records the files of folders that the user has just begun to trust. Other processes may have
   * done so earlier: read the record again afterwards. If it cannot be written, the lines count for
   * this process, and `problem` gives the reason.
   */
  recordFirst(lines: readonly Omit<TrustLine, 'first'>[]): void {
    const texts = lines.map((line) => JSON.stringify({ ...line, first: true }));
    try {
      if (this.#writes) this.#append(texts.join('\n'));
      else this.#kept.push(...texts);
    } catch (error) {
      this.#kept.push(...texts);
      this.#unwritable = new TrustError(
        `${this.path} cannot be written: ${reasonOf(error)}. ${UNWRITABLE}`,
        { cause: error },
      );
    }
  }

  /**
   * Records that the user trusts these contents, all or none. Throws a TrustError if they cannot be
   * recorded.
   */
  trust(lines: readonly Omit<TrustLine, 'first'>[]): void {
    this.read();
    const texts = lines.map(({ folder, files }) => JSON.stringify({ folder, files }));
    try {
      if (this.#writes) this.#append(texts.join('\n'));
      else this.#kept.push(...texts);
    } catch (error) {
      throw new TrustError(`${this.path} cannot be written: ${reasonOf(error)}`, { cause: error });
    }
  }

  /** Omits an incomplete last line, which another process is writing. */
  #readText(): string {
    const file = readRegularFileSync(this.path, { bytesMax: RECORD_BYTES_MAX });
    if (file === null) return '';
    return new TextDecoder('utf-8', { fatal: true }).decode(
      file.bytes.subarray(0, file.bytes.lastIndexOf('\n') + 1),
    );
  }

  #append(lines: string): void {
    makePrivate(this.path);
    appendLine(this.path, lines, RECORD_BYTES_MAX);
  }
}

const UNREADABLE =
  'Until you correct that, no file of a project is in force. If you remove the record, heddle trusts the files that it then finds in your trusted projects.';
const UNWRITABLE =
  'Until you correct that, heddle notices changes to the files of your trusted projects only while it runs.';

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
