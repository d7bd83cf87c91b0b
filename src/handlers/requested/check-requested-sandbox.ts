import { isAbsolute } from 'node:path';
import { relativePathIn } from '../../policy/permissions/complete-sandbox-policy.ts';
import type { SandboxMode, SandboxPolicy } from '../../protocol/generated/types.ts';
import { invalidParams, unknownEnvironment } from '../../protocol/rpc-error.ts';

/** The id of the only environment: the machine that the server runs on. */
export const LOCAL_ENVIRONMENT = 'local';

interface Request {
  permissions?: string | null;
  sandbox?: SandboxMode | null;
  sandboxPolicy?: SandboxPolicy | null;
  runtimeWorkspaceRoots?: string[] | null;
  environments?: { environmentId: string }[] | null;
}

/**
 * Throws if a path in the request is relative, if an environment is unknown, or if the request sets
 * the sandbox twice: by `permissions` and by `other`. Does not check that the permission profile
 * exists.
 */
export function checkRequestedSandbox(request: Request, other: 'sandbox' | 'sandboxPolicy'): void {
  const { permissions = null, sandboxPolicy, runtimeWorkspaceRoots, environments } = request;
  const relativeRoot = runtimeWorkspaceRoots?.find((root) => !isAbsolute(root));
  if (relativeRoot !== undefined)
    throw invalidParams(`params.runtimeWorkspaceRoots: "${relativeRoot}" is not an absolute path`);
  const relativePolicyPath = sandboxPolicy ? relativePathIn(sandboxPolicy) : null;
  if (relativePolicyPath !== null)
    throw invalidParams(
      `params.sandboxPolicy.${relativePolicyPath.field}: "${relativePolicyPath.path}" is not an absolute path`,
    );
  const unknown = environments?.find(({ environmentId }) => environmentId !== LOCAL_ENVIRONMENT);
  if (unknown !== undefined) throw unknownEnvironment(unknown.environmentId);
  if (permissions !== null && request[other])
    throw invalidParams(`\`permissions\` cannot be combined with \`${other}\``);
}
