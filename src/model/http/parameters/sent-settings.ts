/**
 * Which reasoning settings a request has: all that help clients (`full`), those that the user set
 * (`asked`), or none. Not every provider or model accepts all of them.
 */
export type ReasoningSent = 'full' | 'asked' | 'none';

/**
 * The settings of one request: those that the provider may refuse, and which of them are left out.
 */
export interface SentSettings {
  reasoning: ReasoningSent;
  /** The names of the parameters that are left out. */
  leftOut: ReadonlySet<string>;
}
