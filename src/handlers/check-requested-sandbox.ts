import { isAbsolute } from 'node:path';
import { relativePathIn } from '../policy/permissions/complete-sandbox-policy.ts';
import type { SandboxMode, SandboxPolicy } from '../protocol/generated/types.ts';
import { invalidParams, unknownEnvironment } from '../protocol/rpc-error.ts';

/** The one environment that there is: the machine that the server runs on. */
const LOCAL_ENVIRONMENT = 'local';

interface Request {
  permissions?: string | null;
  sandbox?: SandboxMode | null;
  sandboxPolicy?: SandboxPolicy | null;
  runtimeWorkspaceRoots?: string[] | null;
  environments?: { environmentId: string }[] | null;
}

/** Throws where a request asks for a place that cannot be had, or for bounds in two ways: by `permissions` and by `other`. Whether there is such a profile is not looked at. */
export function checkRequestedSandbox(request: Request, other: 'sandbox' | 'sandboxPolicy'): void {
  const { permissions = null, sandboxPolicy, runtimeWorkspaceRoots, environments } = request;
  const relative = runtimeWorkspaceRoots?.find((root) => !isAbsolute(root));
  if (relative !== undefined) throw invalidParams(`params.runtimeWorkspaceRoots: "${relative}" is not an absolute path`);
  const stray = sandboxPolicy ? relativePathIn(sandboxPolicy) : null;
  if (stray !== null) throw invalidParams(`params.sandboxPolicy.${stray.field}: "${stray.path}" is not an absolute path`);
  const strange = environments?.find(({ environmentId }) => environmentId !== LOCAL_ENVIRONMENT);
  if (strange !== undefined) throw unknownEnvironment(strange.environmentId);
  if (permissions !== null && request[other]) throw invalidParams(`\`permissions\` cannot be combined with \`${other}\``);
}
