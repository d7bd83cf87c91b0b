/**
 * Sees every message of a connection as JSON text: incoming ones before they are parsed, outgoing
 * ones in their order.
 */
export interface WireTap {
  received(text: string): void;
  sent(text: string): void;
  /** Hides these secrets in later messages. */
  hide?(secrets: readonly string[]): void;
}
