/** A finding of a review. Null: the reviewer did not say. */
export interface ReviewFinding {
  title: string;
  body: string;
  path: string | null;
  start: number | null;
  end: number | null;
}

/** Formats a review as text: its overall explanation, and its findings with their locations. */
export function reviewReport({
  explanation,
  findings,
}: {
  explanation: string;
  findings: readonly ReviewFinding[];
}): string {
  const listed = findings.map(({ title, body, path, start, end }) => {
    const where = path === null ? '' : ` (${path}:${start ?? '?'}-${end ?? '?'})`;
    return `- ${title}${where}\n${body.replace(/^/gm, '  ')}`;
  });
  return [explanation, ...listed].filter((part) => part !== '').join('\n\n');
}
