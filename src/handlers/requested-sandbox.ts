import { isAbsolute } from 'node:path';
import { PERMISSION_PROFILES, plainPolicy, profileMode } from '../policy/permission-profile.ts';
import { invalidParams, unknownEnvironment, unknownPermissionProfile } from '../protocol/errors.ts';
import type { SandboxMode, SandboxPolicy } from '../protocol/generated/types.ts';

/** The one environment that there is: the machine that the server runs on. */
const LOCAL_ENVIRONMENT = 'local';

interface Request {
  permissions?: string | null;
  sandbox?: SandboxMode | null;
  sandboxPolicy?: SandboxPolicy | null;
  runtimeWorkspaceRoots?: string[] | null;
  environments?: { environmentId: string }[] | null;
}

/** The sandbox mode that a thread is to begin with, by its name or by a permission profile. Throws for what cannot be had. */
export function requestedMode(request: Request): SandboxMode | null {
  return profileOf(request, 'sandbox') ?? request.sandbox ?? null;
}

/** The sandbox policy that a turn is to run with, as a whole or by a permission profile. Throws for what cannot be had. */
export function requestedPolicy(request: Request): SandboxPolicy | null {
  const mode = profileOf(request, 'sandboxPolicy');
  return mode === null ? (request.sandboxPolicy ?? null) : plainPolicy(mode);
}

function profileOf(request: Request, other: 'sandbox' | 'sandboxPolicy'): SandboxMode | null {
  const { permissions = null, runtimeWorkspaceRoots, environments } = request;
  const relative = runtimeWorkspaceRoots?.find((root) => !isAbsolute(root));
  if (relative !== undefined) throw invalidParams(`params.runtimeWorkspaceRoots: "${relative}" is not an absolute path`);
  const strange = environments?.find(({ environmentId }) => environmentId !== LOCAL_ENVIRONMENT);
  if (strange !== undefined) throw unknownEnvironment(strange.environmentId);
  if (permissions === null) return null;
  if (request[other]) throw invalidParams(`\`permissions\` cannot be combined with \`${other}\``);
  const mode = profileMode(permissions);
  if (mode === null) throw unknownPermissionProfile(permissions, PERMISSION_PROFILES);
  return mode;
}
