import type { GrantedPermissions } from './sandbox-bounds.ts';

/**
 * How an action may be performed. No sandbox confines patches and questions, so they ignore the
 * fields about sandboxes.
 */
export interface Permit {
  /**
   * Whether the action runs within the bounds of the sandbox policy, if the policy has any, plus
   * the permissions that it asks for.
   */
  sandboxed: boolean;
  /**
   * Whether it runs as under a read-only policy (`readingOnly`). It needed no approval because it
   * only reads. The sandbox enforces that, even if a repository or a configuration makes it do
   * something else.
   */
  readOnly: boolean;
  /**
   * Whether to ask for a run outside the sandbox if the command fails and it looks as if the
   * sandbox blocked it. The question has the key of a run outside the sandbox.
   */
  askIfRefused: boolean;
  /** Whether the action needed approval. */
  wasAsked?: boolean;
  /** For a request for permissions: what was granted, and for how long. */
  granted?: { permissions: GrantedPermissions; scope: 'turn' | 'session' };
}
