import { PausableTimers } from '../../base/pausable-timers.ts';
import type { Permit } from '../../policy/permissions/permit.ts';
import { mustStayInside } from '../../policy/permissions/required/required-hidden.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import {
  type ProcessSpec,
  ProcessStartError,
  type RunningProcess,
  SandboxUnavailableError,
} from '../../sandbox/processes/processes.ts';
import type { ActionHost } from '../action.ts';
import { commandBounds, readOnlyBounds } from './command-bounds.ts';
import type { OpenProxy } from './command-proxies.ts';
import type { CommandRun } from './command-run.ts';
import type { runProxy } from './network/run-proxy.ts';
import type { CommandPin } from './outside/command-pin.ts';
import { CommandSession } from './sessions/command-session.ts';
import type { ShownCommand } from './sessions/shown-command.ts';

/** The size of a command's terminal. */
const TERMINAL = { rows: 24, cols: 80 };

interface CommandStart {
  shown: ShownCommand;
  permit: Permit;
  host: ActionHost;
}

/** The state of a command when its call stops waiting for it. */
export type CommandOutcome =
  | { state: 'notStarted'; problem: string }
  /** The turn was interrupted before the command started. */
  | { state: 'notBegun' }
  | { state: 'ended'; exitCode: number }
  | { state: 'timedOut' }
  /** `exitCode` is null if the killed command did not end in time. */
  | { state: 'interrupted'; exitCode: number | null }
  | { state: 'yielded'; session: CommandSession };

/**
 * Starts a command and waits for its end, at most as long as its call says. If it is still running
 * then, it continues in the background if the call yields, and is killed otherwise. An interrupt
 * always kills it.
 */
export async function startCommand(run: CommandRun, start: CommandStart): Promise<CommandOutcome> {
  const { shown, host } = start;
  const { signal } = host;
  if (signal.aborted) return { state: 'notBegun' };
  const timers = new PausableTimers(run.services.waits);
  const bounds = boundsOf(run, start.permit);
  const proxy = await proxyOf(run, bounds, { shown, host, timers });
  const program = await startProcess(run, { shown, bounds, proxy, signal });
  if ('problem' in program) {
    proxy?.close();
    return signal.aborted
      ? { state: 'notBegun' }
      : { state: 'notStarted', problem: program.problem };
  }
  shown.readFrom(program);
  const session = newSession(run, { ...start, program, timers, proxy });
  const { sessions } = run.services;
  sessions.begin(session);
  await session.wait(run.call.waitMs, signal);
  if (session.end === null && !signal.aborted && run.call.yields) {
    sessions.yield(session);
    return { state: 'yielded', session };
  }
  const hadEnded = session.end !== null;
  if (!hadEnded) await session.kill();
  sessions.finish(session);
  shown.endOutput();
  if (signal.aborted) return { state: 'interrupted', exitCode: session.end?.exitCode ?? null };
  return hadEnded && session.end !== null
    ? { state: 'ended', exitCode: session.end.exitCode }
    : { state: 'timedOut' };
}

function boundsOf(
  { context, services, permissions }: CommandRun,
  { sandboxed, readOnly }: Permit,
): SandboxBounds | null {
  if (readOnly) return readOnlyBounds({ context, services });
  // The last check of those that keep a command inside: what the administrator hides is hidden from
  // all.
  return sandboxed || mustStayInside(context.settings.hidden)
    ? commandBounds({ context, services }, permissions)
    : null;
}

/** Returns null if the command reaches the network without a proxy, or not at all. */
async function proxyOf(
  run: CommandRun,
  bounds: SandboxBounds | null,
  options: Omit<Parameters<typeof runProxy>[1], 'policy'>,
): Promise<OpenProxy | null> {
  const policy =
    bounds?.managedNetwork === true ? run.services.settings.network(run.context.settings) : null;
  if (policy === null) return null;
  const { runProxy } = await import('./network/run-proxy.ts');
  return runProxy(run, { ...options, policy });
}

async function startProcess(
  { call, services, start, owner, pin, permissions }: CommandRun,
  {
    shown,
    bounds,
    proxy,
    signal,
  }: {
    shown: ShownCommand;
    bounds: SandboxBounds | null;
    proxy: OpenProxy | null;
    signal: AbortSignal;
  },
): Promise<RunningProcess | { problem: string }> {
  const terminal = call.tty ? TERMINAL : null;
  const place = await startPlace(call.cwd, {
    pin: bounds === null || permissions !== null ? pin : null,
    sandboxed: bounds !== null,
  });
  if ('problem' in place) return place;
  try {
    const serve = proxy === null ? {} : { serve: proxy.serve, signal };
    const startedFor =
      bounds === null
        ? { startedFor: { of: "this command's shell", kind: 'approved' as const } }
        : {};
    const how = {
      input: false,
      terminal,
      joinsOutput: true,
      moreFollow: true,
      ...serve,
      ...startedFor,
    };
    const spec = { ...start, ...place, bounds, owner, ...how };
    return await services.machine.processes.start(spec, (stream, bytes) =>
      shown.take(stream, bytes),
    );
  } catch (error) {
    if (error instanceof ProcessStartError || error instanceof SandboxUnavailableError)
      return { problem: error.message };
    throw error;
  }
}

/**
 * Returns the working directory, and a problem if something has changed. Outside the sandbox, the
 * directory is the pinned one itself. In the sandbox, another one at its path reaches no further.
 */
async function startPlace(
  cwd: string,
  { pin, sandboxed }: { pin: CommandPin | null; sandboxed: boolean },
): Promise<Pick<ProcessSpec, 'cwd' | 'pinnedCwd'> | { problem: string }> {
  const changed = (await pin?.changed()) ?? null;
  if (changed !== null) {
    const problem =
      `This command was not run: ${changed} has changed since the command was checked. An approval is for the files as they were. ` +
      'Look at what changed, and call the command again if it is still right.';
    return { problem };
  }
  const folder = sandboxed ? null : (pin?.folder ?? null);
  return folder === null ? { cwd } : { cwd, pinnedCwd: folder };
}

function newSession(
  { call, command, context, services, number, owner }: CommandRun,
  {
    shown,
    program,
    permit,
    timers,
    proxy,
  }: CommandStart & { program: RunningProcess; timers: PausableTimers; proxy: OpenProxy | null },
) {
  return new CommandSession({
    number,
    owner,
    turnId: context.turnId,
    text: command.text,
    cwd: call.cwd,
    hasInput: call.tty,
    wasAskedAbout: permit.wasAsked === true,
    shown,
    program,
    clock: services.clock,
    timers,
    proxy,
  });
}
