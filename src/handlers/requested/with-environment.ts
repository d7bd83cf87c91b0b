import { isDeepStrictEqual } from 'node:util';
import { invalidParams } from '../../protocol/rpc-error.ts';

interface Request {
  cwd?: string | null;
  runtimeWorkspaceRoots?: string[] | null;
  environments?: { cwd: string; runtimeWorkspaceRoots?: string[] | null }[] | null;
}

/**
 * The params with the working directory and the roots of the environment that they select. Throws
 * if they select several, or if the environment's folders are not those that the params name
 * besides.
 */
export function withEnvironment<Params extends object>(params: Params & Request): Params {
  const [environment, ...others] = params.environments ?? [];
  if (environment === undefined) return params;
  if (others.length > 0)
    throw invalidParams('params.environments: there is only one environment, so name it once');
  const { cwd, runtimeWorkspaceRoots } = environment;
  return {
    ...params,
    cwd: same('cwd', cwd, params.cwd),
    runtimeWorkspaceRoots: same(
      'runtimeWorkspaceRoots',
      runtimeWorkspaceRoots,
      params.runtimeWorkspaceRoots,
    ),
  };
}

function same<T>(
  field: string,
  inEnvironment: T | null | undefined,
  named: T | null | undefined,
): T | null {
  if (inEnvironment != null && named != null && !isDeepStrictEqual(inEnvironment, named))
    throw invalidParams(
      `params.${field} and params.environments[0].${field} are different: give one of them`,
    );
  return named ?? inEnvironment ?? null;
}
