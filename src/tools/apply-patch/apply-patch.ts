import { resolve } from 'node:path';
import type { Env } from '../../base/env.ts';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { isObject, type JsonValue } from '../../base/json-value.ts';
import { pathOf } from '../../files/file-location.ts';
import type { TouchedFile } from '../../policy/permissions/judge-patch.ts';
import { ProcessStartError } from '../../sandbox/processes/processes.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { type Action, type ActionOutcome, failed } from '../action.ts';
import { threadBounds } from '../thread-bounds.ts';
import type { CallContext, Tool } from '../tool.ts';
import { fileChanges } from './diff/file-changes.ts';
import type { PlannedChange } from './diff/planned-change.ts';
import { TurnDiff } from './diff/turn-diff.ts';
import { parsePatch } from './parse-patch.ts';
import { failedPatch, PatchAction, type PatchActionServices } from './patch-action.ts';
import { PatchError } from './patch-error.ts';
import { PATCH_SPEC } from './patch-spec.ts';
import { PinnedFolders } from './pinned-folders.ts';
import { planPatch } from './plan-patch.ts';
import { type ResolvedBounds, resolvePatchBounds } from './resolve-patch-bounds.ts';

interface ApplyPatchServices extends Omit<PatchActionServices, 'turnDiff'> {
  /** The server's own environment. */
  env: Env;
  sandbox: Pick<Sandbox, 'protects'>;
  /** The folders below which protected names are not protected. */
  unprotected(): readonly string[];
}

interface PatchRequest {
  patch: string;
  /**
   * The directory that the patch's paths start from, relative to the thread's working directory.
   */
  folder: string;
}

/**
 * Prepares the patches of one thread: calls of the tool `apply_patch`, and commands that only apply
 * a patch.
 */
export class ApplyPatch {
  readonly tool: Tool = {
    spec: PATCH_SPEC,
    hookForm: 'patch',
    isExclusive: true,
    prepare: (args, context) => this.#prepareCall(args, context),
  };
  readonly #deps: ApplyPatchServices;
  /**
   * Resolves when the thread's last patch is done. Each patch is verified against the files that
   * the previous one left.
   */
  #last: Promise<void> = Promise.resolve();
  #turn: { id: string; diff: TurnDiff } | null = null;

  constructor(deps: ApplyPatchServices) {
    this.#deps = deps;
  }

  /**
   * Waits for the thread's earlier patches, then verifies this one against the files. Writes
   * nothing.
   */
  async prepare(
    { patch, folder }: PatchRequest,
    context: CallContext,
  ): Promise<Action | ActionOutcome> {
    const release = await this.#lock();
    const folders = new PinnedFolders();
    const close = async () => {
      try {
        await folders.close();
      } finally {
        release();
      }
    };
    try {
      const cwd = resolve(context.settings.cwd, folder);
      return await this.#plan(patch, { cwd, context, folders, close });
    } catch (error) {
      await close();
      if (error instanceof PatchError || error instanceof ProcessStartError)
        return failedPatch(`apply_patch verification failed: ${error.message}`);
      throw error;
    }
  }

  /** Forgets the changes of the ended turn. */
  endTurn(): void {
    this.#turn = null;
  }

  async #prepareCall(args: JsonValue, context: CallContext): Promise<Action | ActionOutcome> {
    const patch = isObject(args) ? args.input : args;
    if (typeof patch !== 'string')
      return failed(
        'apply_patch needs the patch as a string. In JSON arguments, pass it as `input`.',
      );
    return this.prepare({ patch, folder: '.' }, context);
  }

  async #plan(
    patch: string,
    {
      cwd,
      context,
      folders,
      close,
    }: { cwd: string; context: CallContext; folders: PinnedFolders; close: () => Promise<void> },
  ): Promise<Action> {
    const bounds = await this.#bounds(context);
    const breaks = new EventLoopYield();
    const changes = await planPatch(await parsePatch(patch, breaks), {
      cwd,
      folders,
      mayRead: bounds?.mayRead ?? (() => true),
      breaks,
    });
    const item = {
      type: 'fileChange' as const,
      id: context.itemId,
      changes: await fileChanges(changes, breaks),
      status: 'inProgress' as const,
    };
    const deps = { ...this.#deps, turnDiff: (turnId: string) => this.#turnDiff(turnId) };
    return new PatchAction(
      { changes, files: touchedFiles(changes), bounds, folders, item, breaks, close },
      context,
      deps,
    );
  }

  #turnDiff(turnId: string): TurnDiff {
    if (this.#turn?.id !== turnId) this.#turn = { id: turnId, diff: new TurnDiff() };
    return this.#turn.diff;
  }

  async #bounds(context: CallContext): Promise<ResolvedBounds | null> {
    const bounds = threadBounds(context, this.#deps, { unprotected: this.#deps.unprotected() });
    return bounds === null ? null : await resolvePatchBounds(bounds, this.#deps.sandbox);
  }

  async #lock(): Promise<() => void> {
    const before = this.#last;
    let release = () => {};
    this.#last = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    return release;
  }
}

/**
 * The names that disappear and the names that appear. A file with several hard links is shared if
 * its content changes in place.
 */
function touchedFiles(changes: readonly PlannedChange[]): TouchedFile[] {
  return changes.flatMap(({ path, moveTo, entry, target }) => {
    if (target === null || moveTo === null) {
      const found = target?.found ?? null;
      const shared =
        found?.isFile() === true && found.nlink > 1n ? `${found.dev}:${found.ino}` : null;
      return [{ path, real: pathOf(target ?? entry), shared }];
    }
    return [
      { path, real: pathOf(entry), shared: null },
      { path: moveTo, real: pathOf(target), shared: null },
    ];
  });
}
