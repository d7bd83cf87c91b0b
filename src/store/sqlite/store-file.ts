import { storeClosed } from '../store-error.ts';
import { isFileDamage } from './connect/as-store-error.ts';
import { fileIdentity } from './database/file-identity.ts';
import { LeaveRequests } from './database/leave-requests.ts';
import {
  closeStore,
  type OpenedStore,
  type OpenStoreOptions,
  StoreOpener,
} from './store-opener.ts';
import { WalSync, type WalSyncOptions } from './wal/wal-sync.ts';

export interface StoreFileOptions extends OpenStoreOptions {
  /** Tests set it, for disks that are slow or fail. */
  walSync?: WalSyncOptions;
}

interface StoreFileDeps {
  /** Called for a request to leave the file, in case that this process makes no calls. */
  onRequest: () => Promise<void>;
  /**
   * Takes this process's threads in a file that was opened again. If it throws, it is called again.
   */
  takeAgain: () => void;
}

/**
 * The file of a store, which is opened again when another process asks for it alone, and when it
 * was damaged or not writable.
 */
export class StoreFile {
  readonly #options: StoreFileOptions;
  readonly #takeAgain: () => void;
  readonly #opener: StoreOpener;
  readonly #leaveRequests: LeaveRequests;
  #current: OpenedStore;
  #walSync: WalSync;
  /** The file was opened again, and this process's threads are not taken in it yet. */
  #isReturning = false;
  #isClosed = false;

  /** Opens the file. Throws errors of SQLite and the file system, and StoreErrors. */
  constructor(options: StoreFileOptions, { onRequest, takeAgain }: StoreFileDeps) {
    this.#options = options;
    this.#takeAgain = takeAgain;
    this.#opener = new StoreOpener(options);
    this.#current = this.#opener.open();
    this.#walSync = new WalSync(options.file, options.walSync);
    this.#leaveRequests = new LeaveRequests({ ...options, onRequest });
  }

  get current(): OpenedStore {
    return this.#current;
  }

  /**
   * Runs `work`. Leaves the file first if another process asks for it. If the file is damaged,
   * repairs it and repeats `work`.
   */
  mending<T>(work: () => T): T {
    if (this.#isClosed) throw storeClosed(this.#options.file);
    const { readOnly, db } = this.#current.opened;
    if (readOnly || db.inTransaction) return work();
    // Closed: an earlier attempt to open it again has failed.
    if (!db.open) this.#leaveAndReturn(() => this.#opener.open());
    else if (this.#leaveRequests.isNew) {
      this.#current.watch?.assertKept();
      this.#leaveAndReturn(() => this.#opener.open());
    } else if (this.#isReturning) this.#return();
    try {
      return work();
    } catch (error) {
      if (!isFileDamage(error)) throw error;
      // A file that was put in the place of this one is no repair of it.
      this.#current.watch?.assertKept();
      const damaged = fileIdentity(this.#options.file);
      this.#leaveAndReturn(() => this.#opener.openRepaired(error, damaged));
      return work();
    }
  }

  /**
   * Opens the file again if it is outdated, or may have become writable. If it fails, the next call
   * tries again.
   */
  reopen(): void {
    const { opened: before, leases, watch } = this.#current;
    leases.close();
    watch?.close();
    // Connections of one process share the -shm file, which the old one may have opened for reading
    // only.
    if (!before.readOnly) before.close();
    const after = this.#opener.reopen(before);
    if (after === null) return;
    this.#use(after);
    before.close();
  }

  /** Resolves when all commits so far are on the disk. Rejects with the system's error. */
  flush(): Promise<void> {
    return this.#walSync.flush();
  }

  /** Resolves when the last flush has ended. Requests to leave the file have no effect any more. */
  async settle(): Promise<void> {
    await this.#walSync.close();
    this.#leaveRequests.close();
  }

  close(): void {
    this.#isClosed = true;
    closeStore(this.#current);
  }

  #use(store: OpenedStore): void {
    this.#current = store;
    // The WAL is another file if the last connection to it was closed.
    void this.#walSync.close();
    this.#walSync = new WalSync(this.#options.file, this.#options.walSync);
  }

  /** Closes the file, and lets `open` open it again. */
  #leaveAndReturn(open: () => OpenedStore): void {
    this.#leaveRequests.follow();
    closeStore(this.#current);
    this.#use(open());
    this.#isReturning = true;
    this.#return();
  }

  #return(): void {
    if (!this.#current.opened.readOnly) this.#takeAgain();
    this.#isReturning = false;
  }
}
