/** The results of the seeds of a kind. */
export interface KindResult {
  kind: string;
  worlds: number;
  /** Milliseconds of all worlds together. Several run at a time. */
  ms: number;
  failures: { seed: number; story: string[]; findings: string[] }[];
}

const SEEDS_SHOWN_MAX = 8;

/** Returns a table of the kinds. */
export function faultTable(results: readonly KindResult[]): string {
  const rows = results.map(({ kind, worlds, ms, failures }) => {
    const seeds = failures.map(({ seed }) => seed);
    const more = seeds.length > SEEDS_SHOWN_MAX ? ' …' : '';
    return [
      kind,
      String(worlds),
      String(seeds.length),
      (ms / Math.max(1, worlds)).toFixed(0),
      seeds.slice(0, SEEDS_SHOWN_MAX).join(' ') + more,
    ];
  });
  const all = [['kind', 'faults', 'failed', 'ms each', 'failing seeds'], ...rows];
  const widths =
    all[0]?.map((_, column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = all.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  return lines.join('\n');
}

/** Returns what happened in each seed that failed. */
export function kindStories({ kind, worlds, failures }: KindResult): string {
  return `${kind}: ${worlds} faults, ${failures.length} failed\n${failures.map((one) => story(kind, one)).join('')}`;
}

function story(
  kind: string,
  { seed, story: what, findings }: KindResult['failures'][number],
): string {
  const repeat = `HEDDLE_FAULTS_KINDS=${kind} HEDDLE_FAULTS_SEED=${seed} HEDDLE_FAULTS_COUNT=1`;
  return `${repeat}\n${what.map((line) => `  ${line}\n`).join('')}${findings.map((line) => `  ✗ ${line}\n`).join('')}\n`;
}
