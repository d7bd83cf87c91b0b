import { INPUT_CHARS_MAX } from '../agent/prompt/check-input.ts';
import { LINE_BYTES_MAX } from '../base/text/line-splitter.ts';
import type { ServerCapabilities } from '../protocol/generated/types.ts';
import { sandboxProgram } from '../sandbox/sandbox-program.ts';
import { REQUESTS_IN_FLIGHT_MAX } from '../transport/json-reader.ts';

/** The server's capabilities as `initialize` returns them, for these methods on this platform. */
export function serverCapabilities(methods: readonly string[], platform: NodeJS.Platform): ServerCapabilities {
  const groups: Record<string, string[]> = {};
  for (const method of methods.toSorted()) {
    const [group = method] = method.split('/');
    groups[group] = [...(groups[group] ?? []), method];
  }
  return {
    methods: groups,
    sandbox: sandboxProgram(platform)?.name ?? null,
    transports: ['stdio'],
    limits: { lineBytes: LINE_BYTES_MAX, requestsInFlight: REQUESTS_IN_FLIGHT_MAX, inputChars: INPUT_CHARS_MAX },
  };
}
