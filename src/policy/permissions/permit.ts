import type { GrantedPermissions } from './sandbox-bounds.ts';

/** How an action may be done. Kinds that no sandbox confines, such as patches and questions, read nothing of it. */
export interface Permit {
  /** Whether it is held to the bounds of the sandbox policy, if the policy has any, and to what the action asks for beyond them. */
  sandboxed: boolean;
  /**
   * Whether it runs as under a read-only policy (`readingOnly`): it needed no approval because it only reads, so it is held to
   * that, whatever a repository or a configuration makes of it.
   */
  readOnly: boolean;
  /** Whether a failure that looks like the sandbox's work may ask to run again outside, with the key of an unsandboxed run. */
  askIfRefused: boolean;
  /** For a request for permissions: what was granted, and for how long. */
  granted?: { permissions: GrantedPermissions; scope: 'turn' | 'session' };
}
