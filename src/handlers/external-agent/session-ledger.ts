import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { withLockFile } from '../../base/files/with-lock-file.ts';
import { isObject } from '../../base/json-value.ts';
import { parseJson } from '../../base/parse-long-json.ts';
import { writeText } from '../../files/write-all.ts';
import { writeFile } from '../../files/write-file.ts';
import { SourceError } from './found.ts';
import { readSource } from './read-source.ts';

const LEDGER_BYTES_MAX = 8 * 1024 * 1024;
/** The end of a list that is the last member of an object. */
const END = /\s*\]\s*\}\s*$/;

/** A session that was imported. */
export interface ImportedSession {
  path: string;
  /** Of the whole file, in hexadecimal. */
  sha256: string;
  threadId: string;
}

/** A session to note. */
export interface NotedSession extends ImportedSession {
  importedAtMs: number;
  /** The time of the file. */
  modifiedAtMs: number;
  title: string;
}

/**
 * The file in the home that lists the imported sessions. It has the name and the form that it has
 * in Codex: clients look there for the thread of a session. The records of other programs stay as
 * they are.
 */
export class SessionLedger {
  readonly #home: string;
  readonly #path: string;
  readonly #clock: Clock;

  constructor({ home, clock }: { home: string; clock: Clock }) {
    this.#home = home;
    this.#path = join(home, 'external_agent_session_imports.json');
    this.#clock = clock;
  }

  /**
   * The records, oldest first. Rejects with a SourceError if the file cannot be read or understood.
   */
  async read(): Promise<ImportedSession[]> {
    const text = await readSource(this.#path, this.#home, LEDGER_BYTES_MAX);
    return text === null ? [] : recordsOf(await parseJson(text), this.#path);
  }

  /**
   * Adds a record. Rejects with a SourceError if the file cannot be understood, and with the
   * system's error if it cannot be written.
   */
  async add(session: NotedSession): Promise<void> {
    await withLockFile(join(this.#home, 'heddle-session-imports.lock'), this.#clock, async () => {
      const before = await readSource(this.#path, this.#home, LEDGER_BYTES_MAX);
      const text =
        before === null
          ? `{\n  "records": [\n${recordText(session)}\n  ]\n}\n`
          : await this.#added(before, session);
      await writeFile(this.#path, (file) => writeText(file, text), { mode: 0o600 });
    });
  }

  /**
   * Adds to the text, and not to the values: other programs write numbers that are not exact in
   * this one.
   */
  async #added(before: string, session: NotedSession): Promise<string> {
    const { length } = recordsOf(await parseJson(before), this.#path, { all: true });
    const text = before.replace(
      END,
      () => `${length === 0 ? '' : ','}\n${recordText(session)}\n  ]\n}\n`,
    );
    const after = recordsOf(await parseJson(text), this.#path, { all: true });
    if (after.length !== length + 1)
      throw new SourceError(`${this.#path} does not end with the list of its records`);
    return text;
  }
}

function recordText({
  path,
  sha256,
  threadId,
  importedAtMs,
  modifiedAtMs,
  title,
}: NotedSession): string {
  const values = {
    source_path: path,
    content_sha256: sha256,
    imported_thread_id: threadId,
    imported_at: Math.floor(importedAtMs / 1000),
    source_modified_at: 0,
    title,
  };
  const nanoseconds = `${Math.floor(modifiedAtMs)}000000`;
  return JSON.stringify(values, null, 2)
    .replace('"source_modified_at": 0', `"source_modified_at": ${nanoseconds}`)
    .replace(/^/gm, '    ');
}

function recordsOf(ledger: unknown, path: string, { all = false } = {}): ImportedSession[] {
  const records = isObject(ledger) ? ledger.records : undefined;
  if (!Array.isArray(records)) throw new SourceError(`${path} has no list of records`);
  return records.flatMap((record: unknown): ImportedSession[] => {
    const fields = isObject(record) ? record : {};
    const { source_path: source, content_sha256: sha256, imported_thread_id: threadId } = fields;
    const isWhole =
      typeof source === 'string' && typeof sha256 === 'string' && typeof threadId === 'string';
    if (isWhole) return [{ path: source, sha256, threadId }];
    return all ? [{ path: '', sha256: '', threadId: '' }] : [];
  });
}
