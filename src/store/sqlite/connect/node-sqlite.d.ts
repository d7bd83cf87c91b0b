/**
 * The part of Node's own SQLite that `connect-with-node.ts` uses. The types of the oldest supported
 * Node do not have it.
 */
declare module 'node:sqlite' {
  export type SqliteValue = null | number | bigint | string | Uint8Array;

  export class DatabaseSync {
    constructor(path: string | URL, options?: { readOnly?: boolean; timeout?: number });
    readonly isOpen: boolean;
    readonly isTransaction: boolean;
    close(): void;
    exec(sql: string): void;
    function(
      name: string,
      options: { deterministic?: boolean },
      call: (...values: SqliteValue[]) => SqliteValue,
    ): void;
    prepare(sql: string): StatementSync;
  }

  export interface StatementSync {
    all(...params: unknown[]): unknown[];
    get(...params: unknown[]): unknown;
    iterate(...params: unknown[]): IterableIterator<unknown>;
    run(...params: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
    setAllowUnknownNamedParameters(allowed: boolean): void;
    setReturnArrays(arrays: boolean): void;
  }

  export function backup(
    source: DatabaseSync,
    file: string,
    options: {
      rate: number;
      progress: (pages: { totalPages: number; remainingPages: number }) => void;
    },
  ): Promise<number>;
}
