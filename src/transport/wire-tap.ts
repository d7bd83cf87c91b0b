/** Sees every message of a connection, as its JSON text: what came, before it is looked at, and what goes out, in its order. */
export interface WireTap {
  received(text: string): void;
  sent(text: string): void;
}
