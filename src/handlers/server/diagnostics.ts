import { type MethodTable, unqueued } from '../requested/method.ts';

export interface Diagnostics {
  pid: number;
  /** The version of Node. */
  node: string;
  /** The memory that the process uses, in bytes; null if unknown. */
  residentMemoryBytes: () => number | null;
  /** The server's last log messages, oldest first, each as JSON text. */
  logMessages: () => string[];
  /** The present values of the gauges, by their names in the schema. */
  gauges: () => Record<string, number>;
}

export function serverMethods({ pid, residentMemoryBytes, gauges }: Diagnostics) {
  return {
    'server/diagnostics': {
      order: unqueued,
      handle: () => ({
        process: {
          id: pid,
          residentMemoryBytes: residentMemoryBytes(),
          physicalFootprintBytes: null,
        },
        gauges: Object.entries(gauges()).map(([name, value]) => ({ name, value })),
      }),
    },
  } satisfies Partial<MethodTable>;
}
