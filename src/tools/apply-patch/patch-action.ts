import type { Clock } from '../../base/clock.ts';
import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import {
  grantedPaths,
  judgePatch,
  type TouchedFile,
} from '../../policy/permissions/judge-patch.ts';
import type { Permit } from '../../policy/permissions/permit.ts';
import type { SessionGrants } from '../../policy/permissions/session-grants.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { UntimedItem } from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import {
  type Action,
  type ActionHost,
  type ActionOutcome,
  type Ask,
  decisionVerdict,
  failed,
  type Judgement,
  type OpenItem,
  type PlannedAction,
  UNCONFINED,
} from '../action.ts';
import { type Denial, deniedStatus, refusalText, unanswered } from '../denial.ts';
import type { CallContext } from '../tool.ts';
import type { PlannedChange } from './diff/planned-change.ts';
import type { TurnDiff } from './diff/turn-diff.ts';
import type { PinnedFolders } from './pinned-folders.ts';
import type { ResolvedBounds } from './resolve-patch-bounds.ts';
import { type Written, writePlan } from './write-plan.ts';

/**
 * The longest output about a failure, in UTF-16 code units: it may quote lines of the patch, which
 * can be very long.
 */
const FAILURE_CHARS_MAX = 10_000;

/** About so many UTF-16 code units of a text get their signs at once. */
const SIGNED_LENGTH = 64 * 1024;

type FileChangeItem = Extract<UntimedItem, { type: 'fileChange' }>;

export interface PatchActionServices {
  clock: Clock;
  /** Absolute: heddle's home. */
  home: string;
  /** The diff of the turn's patches so far. */
  turnDiff(turnId: string): TurnDiff;
}

/** A patch that was verified against the files. */
interface PreparedPatch {
  changes: readonly PlannedChange[];
  files: readonly TouchedFile[];
  /** Null: the sandbox policy has no bounds. */
  bounds: ResolvedBounds | null;
  folders: PinnedFolders;
  /** The item as it begins. */
  item: FileChangeItem;
  breaks: EventLoopYield;
  close: () => Promise<void>;
}

/** A patch of the model. The thread's later patches wait until it is closed. */
export class PatchAction implements Action {
  readonly kind = 'patch';
  readonly item: FileChangeItem;
  readonly close: () => Promise<void>;
  readonly #patch: PreparedPatch;
  readonly #context: CallContext;
  readonly #deps: PatchActionServices;

  constructor(patch: PreparedPatch, context: CallContext, deps: PatchActionServices) {
    this.item = patch.item;
    this.close = patch.close;
    this.#patch = patch;
    this.#context = context;
    this.#deps = deps;
  }

  async judge({ approvalPolicy }: ThreadSettings, grants: SessionGrants): Promise<Judgement> {
    const { files, bounds, breaks } = this.#patch;
    const judged = await judgePatch({ files, bounds, approvalPolicy, grants }, breaks);
    if (judged.verdict === 'refuse') return { refuse: judged.reason };
    return judged.verdict === 'write' ? { run: UNCONFINED } : { ask: this.#ask(judged.reason) };
  }

  approval(_permit: Permit, reason: string): Ask {
    return this.#ask(reason);
  }

  describe(): Promise<PlannedAction> {
    return this.#described(null);
  }

  async perform(
    _permit: Permit,
    open: OpenItem,
    { interruptCause: cause }: ActionHost,
  ): Promise<ActionOutcome> {
    if (cause !== null) return this.refused({ by: 'interrupted', cause });
    const { changes, folders } = this.#patch;
    const { threadId, turnId, itemId } = this.#context;
    const written = await writePlan(changes, folders);
    const output = outcomeText(written);
    open.update(this.item, {
      method: 'item/fileChange/outputDelta',
      params: { threadId, turnId, itemId, delta: output },
    });
    const status = written.failure === null ? 'completed' : 'failed';
    return {
      output,
      success: written.failure === null,
      item: { ...this.item, status },
      after: await this.#diff(written),
    };
  }

  refused(denial: Denial): ActionOutcome {
    const item: FileChangeItem = { ...this.item, status: deniedStatus(denial) };
    return { ...failedPatch(refusal(denial)), item };
  }

  #ask(reason: string | null): Ask {
    const { threadId, turnId, itemId, grants } = this.#context;
    return {
      permit: UNCONFINED,
      describe: () => this.#described(reason),
      askPerson: async (ask) => {
        const params = {
          threadId,
          turnId,
          itemId,
          startedAtMs: this.#deps.clock.now(),
          reason,
          grantRoot: null,
        };
        const answer = await ask({ method: 'item/fileChange/requestApproval', params });
        return answer.type === 'result'
          ? decisionVerdict(answer.result.decision, UNCONFINED)
          : unanswered(answer);
      },
      keep: async ({ scope }) => {
        if (scope === 'session') grants.allowFiles(grantedPaths(this.#patch.files));
      },
    };
  }

  async #described(reason: string | null): Promise<PlannedAction> {
    const { itemId, settings } = this.#context;
    const { cwd } = settings;
    const files = [
      ...new Set(
        this.#patch.changes.flatMap(({ path, moveTo }) =>
          moveTo === null ? [path] : [path, moveTo],
        ),
      ),
    ].sort();
    const changes: JsonObject[] = [];
    for (const change of this.item.changes)
      changes.push(await plannedChange(change, this.#patch.breaks));
    return {
      targetItemId: itemId,
      shown: { type: 'applyPatch', cwd, files },
      planned: { tool: 'apply_patch', cwd, files, changes },
      claims: { reason },
    };
  }

  async #diff({ written }: Written): Promise<Announcement[]> {
    if (written.length === 0) return [];
    const { threadId, turnId, settings } = this.#context;
    const turnDiff = this.#deps.turnDiff(turnId);
    turnDiff.take(written);
    const diff = await turnDiff.text(settings.cwd, this.#patch.breaks);
    return [{ method: 'turn/diff/updated', params: { threadId, turnId, diff } }];
  }
}

/** A change as the lines that it adds and removes. */
async function plannedChange(
  { path, kind, diff }: FileChangeItem['changes'][number],
  breaks: EventLoopYield,
): Promise<JsonObject> {
  const moved = kind.type === 'update' ? { moveTo: kind.move_path ?? null } : {};
  const signed =
    kind.type === 'update' ? diff : await withSign(diff, kind.type === 'add' ? '+' : '-', breaks);
  return { path, kind: kind.type, ...moved, diff: signed };
}

/** The text with a sign before each line. */
async function withSign(text: string, sign: string, breaks: EventLoopYield): Promise<string> {
  const parts: string[] = [];
  for await (const lines of inSlices(linePieces(text, SIGNED_LENGTH), 1, breaks))
    parts.push(lines.replace(/^(?=[^\n]|\n)/gm, sign));
  return parts.join('');
}

/** The parts of a text: whole lines, together longer than `chars`, the last part perhaps not. */
function* linePieces(text: string, chars: number): Generator<string, void, void> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = text.indexOf('\n', from + chars) + 1 || text.length;
    yield text.slice(from, to);
  }
}

function refusal(denial: Denial): string {
  if ('reason' in denial) return `The patch was refused, and nothing was written: ${denial.reason}`;
  return `${refusalText(denial, 'The user declined the patch.')} Nothing of the patch was written.`;
}

const LETTERS = { add: 'A', update: 'M', delete: 'D' } as const;

/** The success text is the one that models were trained on. */
function outcomeText({ written, failure }: Written): string {
  const lines = (['add', 'update', 'delete'] as const).flatMap((type) =>
    written
      .filter((change) => change.type === type)
      .map(({ shown }) => `${LETTERS[type]} ${shown}\n`),
  );
  if (failure === null) return `Success. Updated the following files:\n${lines.join('')}`;
  const before =
    lines.length === 0
      ? 'Nothing was written.\n'
      : `These files were written before the failure and stay written:\n${lines.join('')}`;
  return `apply_patch failed. ${failure}\n${before}`;
}

/** The outcome of a patch that was not applied. */
export function failedPatch(output: string): ActionOutcome {
  return failed(cutText(output, FAILURE_CHARS_MAX));
}
