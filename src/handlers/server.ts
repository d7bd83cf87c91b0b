import type { MethodTable } from './method.ts';

export interface DiagnosticsDeps {
  pid: number;
  /** What the process takes of the machine's memory, in bytes; null: not known. */
  residentMemoryBytes: () => number | null;
  /** What there is how much of now, by names as in the schema. */
  gauges: () => Record<string, number>;
}

export function serverMethods({ pid, residentMemoryBytes, gauges }: DiagnosticsDeps) {
  return {
    'server/diagnostics': {
      queue: null,
      handle: () => ({
        process: { id: pid, residentMemoryBytes: residentMemoryBytes(), physicalFootprintBytes: null },
        gauges: Object.entries(gauges()).map(([name, value]) => ({ name, value })),
      }),
    },
  } satisfies Partial<MethodTable>;
}
