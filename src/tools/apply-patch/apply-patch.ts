import { resolve } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { cutText } from '../../base/cut-text.ts';
import type { Env } from '../../base/env.ts';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { isObject, type JsonValue } from '../../base/json-value.ts';
import { pathOf } from '../../files/file-location.ts';
import { grantedPaths, judgePatch, type PatchVerdict, type TouchedFile } from '../../policy/permissions/judge-patch.ts';
import { sandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import type { FileChangeApprovalDecision, ThreadItem } from '../../protocol/generated/types.ts';
import { sandboxFolders } from '../sandbox-folders.ts';
import type { OpenToolItem, Tool, ToolContext, ToolResult } from '../tool.ts';
import { fileChanges } from './file-changes.ts';
import { parsePatch } from './parse-patch.ts';
import { PatchError } from './patch-error.ts';
import { PATCH_SPEC } from './patch-spec.ts';
import { PinnedFolders } from './pinned-folders.ts';
import { type PlannedChange, planPatch } from './plan-patch.ts';
import { type ResolvedBounds, resolvePatchBounds } from './resolve-patch-bounds.ts';
import { TurnDiff } from './turn-diff.ts';
import { type Written, writePlan } from './write-plan.ts';

/** The longest text about a failure: a patch may look for lines of a megabyte. */
const FAILURE_CHARS_MAX = 10_000;

export interface ApplyPatchOptions {
  clock: Clock;
  /** Absolute: heddle's home. */
  home: string;
  /** The server's own environment. */
  env: Env;
}

type Decision = FileChangeApprovalDecision | 'unasked' | 'unanswered';

/** `apply_patch` of one thread: the tool, and what commands that hold a patch do in its place. */
export class ApplyPatch {
  readonly tool: Tool;
  readonly #options: ApplyPatchOptions;
  /** Patches come one after the other, by whichever way they come. */
  #last: Promise<unknown> = Promise.resolve();
  #turn: { id: string; diff: TurnDiff } | null = null;

  constructor(options: ApplyPatchOptions) {
    this.#options = options;
    this.tool = { spec: PATCH_SPEC, exclusive: true, run: (args, context, signal) => this.#run(args, context, signal) };
  }

  /** Applies a patch whose paths start from `folder`, itself relative to the thread's working folder. */
  apply({ patch, folder }: { patch: string; folder: string | null }, context: ToolContext, signal: AbortSignal): Promise<ToolResult> {
    const done = this.#last.then(() => this.#apply(patch, { context, cwd: resolve(context.settings.cwd, folder ?? '.') }, signal));
    this.#last = done.catch(() => {});
    return done;
  }

  /** Forgets what the patches of the turn that has ended did. */
  turnEnded(): void {
    this.#turn = null;
  }

  async #run(args: JsonValue, context: ToolContext, signal: AbortSignal): Promise<ToolResult> {
    const patch = isObject(args) ? args.input : args;
    if (typeof patch !== 'string')
      return { output: 'apply_patch needs the patch as a text, as `input` where it takes JSON.', success: false };
    return this.apply({ patch, folder: null }, context, signal);
  }

  async #apply(patch: string, { context, cwd }: { context: ToolContext; cwd: string }, signal: AbortSignal): Promise<ToolResult> {
    const folders = new PinnedFolders();
    const breaks = new EventLoopYield();
    try {
      const bounds = this.#bounds(context);
      const mayRead = bounds?.mayRead ?? (() => true);
      const changes = await planPatch(parsePatch(patch), { cwd, folders, mayRead, breaks });
      return await this.#carryOut(changes, { bounds, folders, context, breaks }, signal);
    } catch (error) {
      if (error instanceof PatchError) return failed(`apply_patch verification failed: ${error.message}`);
      throw error;
    } finally {
      await folders.close();
    }
  }

  async #carryOut(
    changes: PlannedChange[],
    {
      bounds,
      folders,
      context,
      breaks,
    }: { bounds: ResolvedBounds | null; folders: PinnedFolders; context: ToolContext; breaks: EventLoopYield },
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const files = touchedFiles(changes);
    const { approvalPolicy } = context.settings;
    const verdict = judgePatch({ files, bounds, approvalPolicy, grants: context.approvals.grants });
    if (verdict.verdict === 'refuse') return failed(`The patch was refused, and nothing was written: ${verdict.reason}`);
    const shown = await fileChanges(changes, breaks);
    const item = (status: 'inProgress' | 'completed' | 'failed' | 'declined'): ThreadItem => ({
      type: 'fileChange',
      id: context.itemId,
      changes: shown,
      status,
    });
    const { open, decision } = await this.#decide(verdict, { context, item: item('inProgress') }, signal);
    const refusal = signal.aborted ? 'The turn was interrupted.' : refusalOf(decision);
    if (refusal !== null) {
      await open.complete(item('declined'));
      if (decision === 'cancel') context.approvals.cancelTurn();
      return failed(`${refusal} Nothing of the patch was written.`);
    }
    if (decision === 'acceptForSession') context.approvals.grants.allowFiles(grantedPaths(files));
    const written = await writePlan(changes, folders);
    const output = outcomeText(written);
    const { threadId, turnId, itemId } = context;
    open.update(item('inProgress'), { method: 'item/fileChange/outputDelta', params: { threadId, turnId, itemId, delta: output } });
    await open.complete(item(written.failure === null ? 'completed' : 'failed'));
    await this.#tellDiff(written, context, breaks);
    return { output, success: written.failure === null };
  }

  /** Begins the item, and asks about it where the verdict says so. */
  async #decide(
    verdict: Exclude<PatchVerdict, { verdict: 'refuse' }>,
    { context, item }: { context: ToolContext; item: ThreadItem },
    signal: AbortSignal,
  ): Promise<{ open: OpenToolItem; decision: Decision }> {
    if (verdict.verdict === 'write') return { open: await context.items.begin(item), decision: 'unasked' };
    const { threadId, turnId, itemId, approvals, items } = context;
    const began: OpenToolItem[] = [];
    const answer = await approvals.ask(
      {
        method: 'item/fileChange/requestApproval',
        params: { threadId, turnId, itemId, startedAtMs: this.#options.clock.now(), reason: verdict.reason, grantRoot: null },
        opening: async () => began.push(await items.begin(item)),
      },
      signal,
    );
    const open = began[0] ?? (await items.begin(item));
    if (answer.type === 'aborted') return { open, decision: 'unanswered' };
    return { open, decision: answer.type === 'result' ? answer.result.decision : 'decline' };
  }

  async #tellDiff({ written }: Written, { threadId, turnId, settings, emit }: ToolContext, breaks: EventLoopYield): Promise<void> {
    if (written.length === 0) return;
    if (this.#turn?.id !== turnId) this.#turn = { id: turnId, diff: new TurnDiff() };
    this.#turn.diff.take(written);
    const diff = await this.#turn.diff.text(settings.cwd, breaks);
    await emit({ method: 'turn/diff/updated', params: { threadId, turnId, diff } });
  }

  #bounds({ settings, approvals }: ToolContext): ResolvedBounds | null {
    const bounds = sandboxBounds(settings.sandboxPolicy, sandboxFolders(settings, this.#options), approvals.grants.permissions);
    return bounds === null ? null : resolvePatchBounds(bounds);
  }
}

/** Names that go and names that come; a file with further names is shared where it is written as it lies. */
function touchedFiles(changes: readonly PlannedChange[]): TouchedFile[] {
  return changes.flatMap(({ path, moveTo, entry, target }) => {
    if (target === null || moveTo === null) {
      const shared = target?.found?.isFile() === true && target.found.nlink > 1n;
      return [{ path, real: pathOf(target ?? entry), shared }];
    }
    return [
      { path, real: pathOf(entry), shared: false },
      { path: moveTo, real: pathOf(target), shared: false },
    ];
  });
}

function refusalOf(decision: Decision): string | null {
  switch (decision) {
    case 'accept':
    case 'acceptForSession':
    case 'unasked':
      return null;
    case 'decline':
    case 'cancel':
      return 'The user declined the patch.';
    case 'unanswered':
      return 'Nobody answered whether the patch may be applied.';
    default:
      return decision satisfies never;
  }
}

const LETTERS = { add: 'A', update: 'M', delete: 'D' } as const;

/** In the words that models know. */
function outcomeText({ written, failure }: Written): string {
  const lines = (['add', 'update', 'delete'] as const).flatMap((type) =>
    written.filter((change) => change.type === type).map(({ shown }) => `${LETTERS[type]} ${shown}\n`),
  );
  if (failure === null) return `Success. Updated the following files:\n${lines.join('')}`;
  const before = lines.length === 0 ? 'Nothing was written.\n' : `Written before that, and kept:\n${lines.join('')}`;
  return `apply_patch failed. ${failure}\n${before}`;
}

function failed(text: string): ToolResult {
  return { output: cutText(text, FAILURE_CHARS_MAX), success: false };
}
