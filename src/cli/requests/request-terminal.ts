/** Where a command that asks a server prints, and whom it can ask. */
export interface RequestTerminal {
  print(text: string): void;
  /** Prints beside the result. */
  note(text: string): void;
  /** The width of the terminal. Null: the output is no terminal, so nothing is cut. */
  columns: number | null;
  /** Asks a person. Null if no person can answer. */
  confirm: ((question: string) => Promise<boolean>) | null;
}
