import type { ProviderConfig } from './provider-config.ts';

const KNOWN_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'];

/** The efforts that model servers on this machine accept. */
const LOCAL_EFFORTS = ['low', 'medium', 'high'];

/** The reasoning efforts that models of a provider may have, from the lowest. */
export function reasoningEfforts({
  localServer,
}: Pick<ProviderConfig, 'localServer'>): readonly string[] {
  return localServer === null ? KNOWN_EFFORTS : LOCAL_EFFORTS;
}
