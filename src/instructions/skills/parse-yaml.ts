/**
 * Parses YAML that others wrote. Rejects if it is invalid or has aliases: a few bytes of aliases
 * can expand to more nodes than fit into memory. The parser is loaded at the first use.
 */
export async function parseYaml(text: string): Promise<unknown> {
  const { parseDocument, visit } = await import('yaml');
  const document = parseDocument(text, { logLevel: 'error', prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) throw error;
  visit(document, {
    Alias() {
      throw new Error('aliases are not allowed');
    },
  });
  return document.toJS();
}

/** Returns a string on one line, for lists; null if the value is not a string or is blank. */
export function oneLine(value: unknown): string | null {
  const line = typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : '';
  return line === '' ? null : line;
}
