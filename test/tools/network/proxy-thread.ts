import { onTestFinished } from 'vitest';
import type { ProxyOptions } from '../../../src/tools/command/command-proxies.ts';
import { ProxyThread } from '../../../src/tools/command/network/thread/proxy-thread.ts';
import { builtScript } from '../../support/built-script.ts';
import { RecordingLog } from '../../support/recording-log.ts';

export function proxyScript(): string {
  return builtScript('src/tools/command/network/thread/proxy-worker.ts');
}

/**
 * A proxy in a thread of its own, on a port of this machine. By default it allows everything, also
 * local addresses.
 */
export async function startThread(
  options: Partial<ProxyOptions> = {},
  credential: string | null = null,
  script = proxyScript(),
) {
  const log = new RecordingLog();
  const thread = new ProxyThread({ script, log });
  onTestFinished(() => thread.close());
  const proxy = await thread.open({
    socks: true,
    decide: async () => ['public', 'private'],
    notReached: () => {},
    ...options,
  });
  const listener = await thread.listen();
  await listener.serve(proxy.serve, credential);
  return { thread, proxy, listener, port: listener.port, log };
}
