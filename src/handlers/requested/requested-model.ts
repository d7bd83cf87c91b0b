/** The model that a request names. Returns null if it names none; a blank name is none. */
export function requestedModel({ model }: { model?: string | null }): string | null {
  return model?.trim() ? model : null;
}
