import type { ServerDiagnosticsConnection } from '../../protocol/generated/types.ts';
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
  connections: {
    views(): ServerDiagnosticsConnection[];
    /** Returns false if there is no connection of this id. */
    end(id: number): boolean;
  };
}

export function serverMethods({ pid, residentMemoryBytes, gauges, connections }: Diagnostics) {
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
        connections: connections.views(),
      }),
    },
  } satisfies Partial<MethodTable>;
}
