import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ConfiguredSettings, confined } from '../../src/agent/settings/confined-settings.ts';
import { hiddenFiles, isHidden } from '../../src/policy/permissions/hidden-files.ts';
import { permissionProfile } from '../../src/policy/permissions/permission-profile.ts';
import type { SandboxPolicy } from '../../src/protocol/generated/types.ts';
import type { ThreadSettings } from '../../src/store/thread-record.ts';
import { commandSettings } from '../../src/tools/command/command-settings.ts';
import { load } from '../config/load.ts';
import { allowedBy, FOLDERS, sandboxPolicies } from '../policy/sandbox-policies.ts';

const PROFILES = `[permissions.open]
extends = ":workspace"
[permissions.open.network]
enabled = true
dangerously_allow_all_unix_sockets = true
[permissions.closed]
extends = ":workspace"
[permissions.closed.network]
enabled = true
mode = "limited"
[permissions.offline]
extends = ":workspace"
[permissions.reading]
extends = ":read-only"
`;

/** The settings of a thread with a profile, or without a sandbox. */
async function withProfile(profile: string | null, toml = ''): Promise<ConfiguredSettings> {
  const config = await load(`${toml}\n${PROFILES}`);
  const sandbox =
    profile === null
      ? { sandboxPolicy: { type: 'dangerFullAccess' as const } }
      : permissionProfile(config, profile);
  const settings = {
    cwd: '/w',
    workspaceRoots: [],
    approvalPolicy: 'never',
    approvalsReviewer: 'user',
    permissionProfile: null,
    collaborationMode: { mode: 'default', settings: { model: 'm' } },
    ...sandbox,
  };
  return {
    settings: settings as unknown as ThreadSettings,
    configuration: { commands: commandSettings(config) },
  };
}

function effective({ settings, configuration: { commands } }: ConfiguredSettings) {
  return {
    mode: commands.network(settings)?.mode ?? null,
    unixSockets: commands.unixSockets(settings),
  };
}

test.each([
  ['open', 'open', { mode: null, unixSockets: true }],
  ['closed', 'open', { mode: 'limited', unixSockets: false }],
  ['open', 'closed', { mode: 'limited', unixSockets: false }],
  ['closed', null, { mode: 'limited', unixSockets: false }],
  [null, 'closed', { mode: 'limited', unixSockets: false }],
  [null, 'open', { mode: null, unixSockets: true }],
])(
  'an agent with the profile %s of a thread with %s has the limits of both',
  async (agents, owners, limits) => {
    const [agent, owner] = await Promise.all([withProfile(agents), withProfile(owners)]);
    const settings = confined(agent, owner);
    expect(effective({ ...agent, settings })).toEqual(limits);
    // Confined again, nothing changes.
    expect(confined({ ...agent, settings }, owner)).toBe(settings);
  },
);

test('an agent of an agent has the limits of all above it', async () => {
  const [top, middle, bottom] = await Promise.all([
    withProfile('closed'),
    withProfile('open'),
    withProfile('open'),
  ]);
  const settings = confined(bottom, { ...middle, settings: confined(middle, top) });
  expect(effective({ ...bottom, settings })).toEqual({ mode: 'limited', unixSockets: false });
});

test('a limit that the configuration of the agent switches off holds', async () => {
  const [agent, owner] = await Promise.all([
    withProfile('open', 'features.network_proxy = false'),
    withProfile('open', 'features.network_proxy = true'),
  ]);
  expect(effective({ ...agent, settings: confined(agent, owner) })).toEqual({
    mode: 'full',
    unixSockets: true,
  });
});

test('settings need no limits of their own if the configuration has them', async () => {
  const [agent, owner] = await Promise.all([withProfile('closed'), withProfile('closed')]);
  expect(confined(agent, owner)).not.toHaveProperty('limits');
});

const PROFILES_ALL = ['open', 'closed', 'offline', 'reading', null];
const REVIEWERS = ['user', 'auto_review', 'guardian_subagent'] as const;

/** What commands may do: a greater number is more. */
function permitted(of: ConfiguredSettings) {
  const { type } = of.settings.sandboxPolicy;
  const { mode, unixSockets } = effective(of);
  const hasNetwork =
    'networkAccess' in of.settings.sandboxPolicy &&
    of.settings.sandboxPolicy.networkAccess === true;
  const managed = hasNetwork ? ['limited', 'full', null].indexOf(mode) + 1 : 0;
  return {
    sandbox: ['readOnly', 'workspaceWrite', 'dangerFullAccess'].indexOf(type),
    // Nothing manages the network where there is no sandbox.
    network: type === 'dangerFullAccess' ? 3 : managed,
    unixSockets: Number(unixSockets),
  };
}

test.each(PROFILES_ALL.flatMap((agents) => PROFILES_ALL.map((owners) => [agents, owners])))(
  'an agent with the profile %s of a thread with %s may do no more than the thread, whatever the configuration of either manages',
  async (agents, owners) => {
    for (const tomls of [
      [],
      ['features.network_proxy = true'],
      ['', 'features.network_proxy = true'],
    ] as const) {
      const [agent, owner] = await Promise.all([
        withProfile(agents, tomls[0]),
        withProfile(owners, tomls[1]),
      ]);
      for (const reviewer of REVIEWERS)
        for (const owners of REVIEWERS) {
          const asked = { ...agent, settings: { ...agent.settings, approvalsReviewer: reviewer } };
          const limit = { ...owner, settings: { ...owner.settings, approvalsReviewer: owners } };
          const settings = confined(asked, limit);
          const [now, limits] = [permitted({ ...agent, settings }), permitted(owner)];
          expect(now.sandbox).toBeLessThanOrEqual(limits.sandbox);
          expect(now.network).toBeLessThanOrEqual(limits.network);
          expect(now.unixSockets).toBeLessThanOrEqual(limits.unixSockets);
          expect(settings.approvalsReviewer).toBe(owners);
        }
    }
  },
);

test('what is hidden from the thread is hidden from an agent, also where it works in another folder', async () => {
  const [agent, owner] = await Promise.all([withProfile('offline'), withProfile('offline')]);
  const hides = (path: string) => ({ path, depthMax: null });
  const own = {
    ...owner,
    settings: {
      ...owner.settings,
      cwd: '/w[1]',
      hidden: [hides(':workspace_roots/*.env'), hides('/a/*.pem')],
    },
  };
  const asked = {
    ...agent,
    settings: { ...agent.settings, cwd: '/w[1]/sub', hidden: [hides('/b/**')] },
  };
  const settings = confined(asked, own);
  const { hidden } = settings;
  expect(hidden).toEqual([
    hides('/b/**'),
    hides(':workspace_roots/*.env'),
    hides('/w\\[1\\]/*.env'),
    hides('/a/*.pem'),
  ]);
  const files = hiddenFiles(hidden ?? [], [settings.cwd]);
  expect(
    ['/w[1]/a.env', '/w[1]/sub/a.env', '/a/k.pem', '/b/c/d', '/w[1]/a', '/b'].map((path) =>
      isHidden(path, files),
    ),
  ).toEqual([...[true, true, true, true], ...[false, false]]);
  expect(confined({ ...agent, settings }, own)).toBe(settings);
});

test('for any two sandboxes and folders, an agent reads, writes and connects to nothing that its thread may not', async () => {
  const [agent, owner] = await Promise.all([withProfile('offline'), withProfile('offline')]);
  const folder = fc.constantFrom(...FOLDERS);
  fc.assert(
    fc.property(sandboxPolicies, sandboxPolicies, folder, (agents, owners, cwd) => {
      const of = (sandboxPolicy: SandboxPolicy, place: string) => ({
        sandboxPolicy,
        permissionProfile: null,
        cwd: place,
      });
      const limit = { ...owner, settings: { ...owner.settings, ...of(owners, '/project') } };
      const { sandboxPolicy, cwd: works } = confined(
        { ...agent, settings: { ...agent.settings, ...of(agents, cwd) } },
        limit,
      );
      const [now, may] = [allowedBy(sandboxPolicy, works), allowedBy(owners, '/project')];
      expect(may.written).toEqual(expect.arrayContaining(now.written));
      expect(may.read).toEqual(expect.arrayContaining(now.read));
      expect([now.network && !may.network, may.isConfined && !now.isConfined]).toEqual([
        false,
        false,
      ]);
    }),
    { numRuns: 2_000 },
  );
});
