/** Lines and columns count from 1. */
export interface ScriptLocation {
  line: number;
  column: number;
}

export interface ScriptProblem {
  text: string;
  /** Null if the problem has no location in a text. */
  place: ScriptLocation | null;
}

const PROBLEMS_SHOWN_MAX = 10;

/**
 * A model script that cannot be used. The message has a line for each problem, with file, line and
 * column.
 */
export class ScriptError extends Error {
  override readonly name = 'ScriptError';
  readonly problems: readonly ScriptProblem[];

  constructor(problems: readonly ScriptProblem[], file: string) {
    const lines = problems
      .slice(0, PROBLEMS_SHOWN_MAX)
      .map((problem) => problemLine(problem, file));
    const left = problems.length - lines.length;
    super([...lines, ...(left > 0 ? [`and ${left} more`] : [])].join('\n'));
    this.problems = problems;
  }
}

function problemLine({ text, place }: ScriptProblem, file: string): string {
  return place === null ? `${file}: ${text}` : `${file}:${place.line}:${place.column}: ${text}`;
}
