/** Changes of the tools that come together are listed once. */
const CHANGES_MS = 50;

/**
 * Tells of changes: of the first one at once, since no call may be made by an old definition, and
 * of those that came with it a moment later, even if they do not end.
 */
export class ChangeNotices {
  readonly #tell: (isLast: boolean) => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(tell: (isLast: boolean) => void) {
    this.#tell = tell;
  }

  changed(): void {
    if (this.#timer !== null) return;
    this.#tell(false);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#tell(true);
    }, CHANGES_MS).unref();
  }
}
