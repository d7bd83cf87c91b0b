import { INPUT_CHARS_MAX } from '../agent/prompt/check-input.ts';
import { methods } from '../protocol/generated/methods.ts';
import type { ServerCapabilities } from '../protocol/generated/types.ts';
import { LINE_BYTES_MAX } from '../protocol/line-bytes-max.ts';
import { sandboxProgram } from '../sandbox/sandbox-program.ts';
import { REQUESTS_IN_FLIGHT_MAX } from '../transport/json-reader.ts';

/** The server's capabilities as `initialize` returns them, on this platform. */
export function serverCapabilities(platform: NodeJS.Platform): ServerCapabilities {
  const groups: Record<string, string[]> = {};
  const served = Object.keys(methods).filter((method) => methods[method]?.served);
  for (const method of served.sort()) {
    const [group = method] = method.split('/');
    groups[group] = [...(groups[group] ?? []), method];
  }
  return {
    methods: groups,
    sandbox: sandboxProgram(platform)?.name ?? null,
    transports: ['stdio', 'ws', 'unix'],
    limits: {
      lineBytes: LINE_BYTES_MAX,
      requestsInFlight: REQUESTS_IN_FLIGHT_MAX,
      inputChars: INPUT_CHARS_MAX,
    },
  };
}
