import { onTestFinished } from 'vitest';
import type { ProxyOptions } from '../../../src/tools/command/command-proxies.ts';
import { RemoteProxies } from '../../../src/tools/command/network/worker/remote-proxies.ts';
import { builtScript } from '../../support/built-script.ts';
import { RecordingLog } from '../../support/recording-log.ts';

export function proxyScript(): string {
  return builtScript('src/tools/command/network/worker/proxy.worker.ts');
}

/**
 * A proxy in a thread of its own, on a port of this machine. By default it allows everything, also
 * local addresses.
 */
export async function startProxyWorker(
  options: Partial<ProxyOptions> = {},
  credential: string | null = null,
  script = proxyScript(),
) {
  const log = new RecordingLog();
  const proxies = new RemoteProxies({ script, log });
  onTestFinished(() => proxies.close());
  const proxy = await proxies.open({
    socks: true,
    decide: async () => ['public', 'private'],
    notReached: () => {},
    ...options,
  });
  const listener = await proxies.listen();
  await listener.serve(proxy.serve, credential);
  return { proxies, proxy, listener, port: listener.port, log };
}
