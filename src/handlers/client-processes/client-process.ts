import type { ClientChannel } from '../../agent/client-channel.ts';
import type { Clock } from '../../base/clock.ts';
import { decodeBase64 } from '../../base/decode-base64.ts';
import { SerialQueue } from '../../base/keyed-queue.ts';
import type { NetworkPolicy } from '../../policy/network/network-policy.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { processNotStarted, sandboxUnavailable } from '../../protocol/errors/process-errors.ts';
import {
  type Processes,
  ProcessStartError,
  type RunningProcess,
  SandboxUnavailableError,
  type TerminalSize,
} from '../../sandbox/processes/processes.ts';
import type { CommandProxies, OpenProxy } from '../../tools/command/command-proxies.ts';
import { EXIT_CODE } from '../../tools/command/sessions/exit-code.ts';
import { type OutputDelta, ProcessOutput } from './process-output.ts';

/** The longest time that a timer can wait. A longer timeout is no timeout. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

export interface ProcessServices {
  processes: Processes;
  clients: ClientChannel;
  clock: Clock;
  /** Opens the proxies of processes. */
  proxies: CommandProxies;
}

/** A process that a client asks for. */
export interface ClientProcessSpec {
  connection: number;
  argv: readonly string[];
  cwd: string;
  input: boolean;
  terminal: TerminalSize | null;
  /** Null: no timeout. */
  timeoutMs: number | null;
  /** The limit for each stream. Null: no limit. */
  outputBytesCap: number | null;
  /** Called with the output as it comes. Null: the output is kept until the process has ended. */
  onOutput: ((delta: OutputDelta) => void) | null;
  /** Resolves with the environment and the sandbox bounds, which may take a moment to find. */
  rights: Promise<ClientProcessRights>;
}

export interface ClientProcessRights {
  env: Readonly<Record<string, string>>;
  bounds: SandboxBounds | null;
  /** How its network is managed. Null: it is not. */
  network: NetworkPolicy | null;
}

export interface ClientProcessEnd {
  exitCode: number;
  output: ProcessOutput;
  /** False if another process, which it started, still holds its output open. */
  allRead: boolean;
}

/** A process that a client asked for, before, while and after it runs. */
export class ClientProcess {
  readonly spec: ClientProcessSpec;
  /** Resolves when the process runs. Rejects with an RpcError if it could not be started. */
  readonly begun: Promise<RunningProcess>;
  /**
   * Resolves when the process has ended and all its output has been announced or kept. Rejects as
   * `begun` does, unless the process was killed before it began: this is an end like that of one
   * that was killed later.
   */
  readonly ended: Promise<ClientProcessEnd>;
  inputClosed = false;
  readonly #decoding = new SerialQueue();
  readonly #services: ProcessServices;
  readonly #output: ProcessOutput;
  #running: RunningProcess | null = null;
  #proxy: OpenProxy | null = null;
  #killed = false;
  /** Whether it was killed before it could be started. */
  #neverBegan = false;

  constructor(spec: ClientProcessSpec, services: ProcessServices) {
    this.spec = spec;
    this.#services = services;
    this.#output = new ProcessOutput(spec.outputBytesCap, spec.onOutput);
    this.begun = this.#begin();
    this.ended = this.#end();
    const closeProxy = () => this.#proxy?.close();
    this.ended.then(closeProxy, closeProxy);
  }

  /**
   * The bytes of base64, after those of earlier calls, so that a short input does not overtake a
   * long one. Null: it is not valid.
   */
  decoded(base64: string | null): Promise<Buffer | null> {
    return this.#decoding.run(() => (base64 === null ? null : decodeBase64(base64)));
  }

  /** Kills the process and everything that it started. If it has not begun, it will not. */
  async kill(): Promise<void> {
    this.#killed = true;
    this.#proxy?.close();
    await this.#running?.kill();
  }

  async #begin(): Promise<RunningProcess> {
    const { argv, cwd, input, terminal, connection } = this.spec;
    const { env, bounds, network } = await this.spec.rights;
    this.#proxy = await this.#openProxy(bounds, network);
    if (this.#killed) {
      this.#neverBegan = true;
      throw processNotStarted('the process was ended before it began');
    }
    const serve = this.#proxy === null ? {} : { serve: this.#proxy.serve };
    const spec = { argv, cwd, env, bounds, input, terminal, owner: ownerOf(connection), ...serve };
    this.#running = await this.#services.processes
      .start(spec, (stream, bytes) => {
        this.#output.take(stream, bytes);
        this.#waitForReader();
      })
      .catch(throwRpcError);
    if (this.#killed) void this.#running.kill();
    return this.#running;
  }

  /** Returns null if the process reaches the network without a proxy, or not at all. */
  async #openProxy(
    bounds: SandboxBounds | null,
    network: NetworkPolicy | null,
  ): Promise<OpenProxy | null> {
    if (network === null || bounds?.managedNetwork !== true) return null;
    const { unaskedProxy } = await import('../../tools/command/network/unasked-proxy.ts');
    return unaskedProxy(network, { ...this.#services, home: bounds.home });
  }

  async #end(): Promise<ClientProcessEnd> {
    const running = await this.begun.catch((error: unknown) => {
      if (this.#neverBegan) return null;
      throw error;
    });
    if (running === null)
      return { exitCode: EXIT_CODE.killed, output: this.#output, allRead: true };
    const { timeoutMs } = this.spec;
    let timedOut = false;
    const timer =
      timeoutMs === null || timeoutMs > TIMEOUT_MS_MAX
        ? null
        : this.#services.clock.setTimer(() => {
            timedOut = true;
            void running.kill();
          }, timeoutMs);
    const leave = running.attend(Number.POSITIVE_INFINITY);
    const { exitCode, allRead } = await running.ended;
    leave();
    timer?.clear();
    await this.#output.finish();
    // A process that ended by itself at the last moment keeps its own exit code.
    return {
      exitCode: timedOut && exitCode === EXIT_CODE.killed ? EXIT_CODE.timedOut : exitCode,
      output: this.#output,
      allRead,
    };
  }

  /** Pauses the process while its client does not read, so that no output piles up. */
  #waitForReader(): void {
    const running = this.#running;
    const backlog =
      this.spec.onOutput === null
        ? null
        : this.#services.clients.drained({ connection: this.spec.connection });
    if (backlog === null || running === null) return;
    running.pause();
    void backlog.then(() => running.resume());
  }
}

/** The owner of a connection's processes. */
export function ownerOf(connection: number): string[] {
  return ['connection', String(connection)];
}

function throwRpcError(error: unknown): never {
  if (error instanceof ProcessStartError) throw processNotStarted(error.message);
  if (error instanceof SandboxUnavailableError) throw sandboxUnavailable(error.message);
  throw error;
}
