import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConfiguredSettings } from '../../src/agent/settings/confined-settings.ts';
import { resolveSettings } from '../../src/agent/settings/resolve-settings.ts';
import type { Config } from '../../src/config/config.ts';
import { isSandboxAsStrict } from '../../src/config/strictness/strictest-first.ts';
import { permissionProfile } from '../../src/policy/permissions/permission-profile.ts';
import { sandboxModeOf } from '../../src/policy/permissions/required/check-required.ts';
import type { SandboxMode, SandboxPolicy } from '../../src/protocol/generated/types.ts';
import type { ThreadSettings } from '../../src/store/thread-record.ts';
import { commandSettings } from '../../src/tools/command/command-settings.ts';
import { load } from '../config/load.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { allowedBy, sandboxPolicies } from '../policy/sandbox-policies.ts';

const MODES: SandboxMode[] = ['read-only', 'workspace-write', 'danger-full-access'];
const LISTS = MODES.flatMap((one) => [
  [one],
  ...MODES.filter((other) => other > one).map((other) => [one, other]),
]);
const PROFILES = `[permissions.limited]
extends = ":workspace"
[permissions.limited.network]
enabled = true
mode = "limited"
[permissions.limited.network.domains]
"a.example" = "allow"
[permissions.small]
[permissions.small.filesystem]
":minimal" = "read"
"/project" = "write"
":workspace_roots" = "write"
`;

/** The configuration of a machine whose administrator allows these modes. */
async function machine(allowed: readonly SandboxMode[], mode: SandboxMode): Promise<Config> {
  const systemDir = tempFolder({
    'requirements.toml': `allowed_sandbox_modes = ${JSON.stringify(allowed)}\n`,
  });
  const own = `[sandbox_workspace_write]\nnetwork_access = true\nwritable_roots = ["/other"]\nunix_sockets = true\n`;
  return load(`model_provider = "scripted"\nsandbox_mode = "${mode}"\n${own}${PROFILES}`, {
    systemDir,
  });
}

function resolved(config: Config, last: Partial<ThreadSettings>): ThreadSettings {
  return resolveSettings({ overrides: {}, requested: {}, last, config, cwd: '/project' }).settings;
}

/**
 * Checks that the sandbox in place of the wanted one is allowed, and looser in nothing but what an
 * allowed mode must be looser in.
 */
function check(config: Config, wanted: SandboxPolicy, got: SandboxPolicy): void {
  const modes = config.requirements.sandboxModes ?? [];
  const [mode, wantedMode] = [sandboxModeOf(got), sandboxModeOf(wanted)];
  expect(modes).toContain(mode);
  if (modes.includes(wantedMode)) expect(got).toEqual(wanted);
  else checkInPlace({ modes, mode, wantedMode }, wanted, got);
}

function checkInPlace(
  {
    modes,
    mode,
    wantedMode,
  }: { modes: readonly SandboxMode[]; mode: SandboxMode; wantedMode: SandboxMode },
  wanted: SandboxPolicy,
  got: SandboxPolicy,
): void {
  const isStrictPossible = modes.some((each) => isSandboxAsStrict(each, wantedMode));
  if (isStrictPossible) expect(isSandboxAsStrict(mode, wantedMode)).toBe(true);
  if (mode === 'danger-full-access') return;
  const [now, limit] = [allowedBy(got), allowedBy(wanted)];
  expect(limit.read).toEqual(expect.arrayContaining(now.read));
  expect(now.network && !limit.network).toBe(false);
  const further = now.written.filter((path) => !limit.written.includes(path));
  expect(further.filter((path) => isStrictPossible || !path.startsWith('/project/'))).toEqual([]);
}

test('in place of a sandbox that is not allowed comes one that permits no more, but for the workspace if it must be writable', async () => {
  const machines = await Promise.all(
    LISTS.flatMap((allowed) => MODES.map((mode) => machine(allowed, mode))),
  );
  fc.assert(
    fc.property(sandboxPolicies, (wanted) => {
      for (const config of machines)
        check(config, wanted, resolved(config, { sandboxPolicy: wanted }).sandboxPolicy);
    }),
    { numRuns: 300 },
  );
});

/** How commands with these settings may use the network and unix sockets. */
function network(config: Config, settings: ThreadSettings) {
  const of: ConfiguredSettings = { settings, configuration: { commands: commandSettings(config) } };
  const policy = of.configuration.commands.network(settings);
  return {
    mode: policy?.mode ?? null,
    unixSockets: of.configuration.commands.unixSockets(settings),
  };
}

test.each(MODES)(
  'the limits of a profile that is not allowed hold in the sandbox in its place (configured: %s)',
  async (mode) => {
    const config = await machine(['read-only'], mode);
    const wanted = permissionProfile(config, 'limited');
    const settings = resolved(config, wanted);
    expect(settings).toMatchObject({
      sandboxPolicy: { type: 'readOnly', networkAccess: false },
      permissionProfile: null,
    });
    expect(network(config, settings)).toEqual({ mode: 'limited', unixSockets: false });
    const small = resolved(config, permissionProfile(config, 'small'));
    expect(small.sandboxPolicy).toMatchObject({
      type: 'readOnly',
      access: { type: 'restricted', readableRoots: ['/project'] },
    });
  },
);
