import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { mayStartAgents } from '../../config/agents/may-start-agents.ts';
import type { Config } from '../../config/config.ts';
import { environmentPolicy } from '../../config/environment-policy.ts';
import { readOr } from '../../config/toml/config-error.ts';
import { projectFolders } from '../../config/trust/project-folders.ts';
import { BASE_INSTRUCTIONS } from '../../instructions/base-instructions.ts';
import {
  type ContextInput,
  contextChanges,
  contextMessages,
} from '../../instructions/context-messages.ts';
import { describeEnvironment } from '../../instructions/environment-text.ts';
import { contextMessage } from '../../instructions/messages/context-message.ts';
import type { ManagedNetwork } from '../../instructions/permissions-text.ts';
import type { SkillError } from '../../instructions/skills/find-skills.ts';
import { skillBody, skillsUsed } from '../../instructions/skills/skill-body.ts';
import { skillList } from '../../instructions/skills/skill-list.ts';
import { commandEnvironment } from '../../policy/command/command-environment.ts';
import { patternText } from '../../policy/network/domain-pattern.ts';
import type { NetworkPolicy } from '../../policy/network/network-policy.ts';
import { managedNetworkRule } from '../../policy/permissions/permission-profile.ts';
import type { GrantedPermissions } from '../../policy/permissions/sandbox-bounds.ts';
import type { ResponseItem, UserInput } from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import { withAdditional } from './additional-context.ts';
import type { InstructionsDeps } from './place-instructions.ts';
import {
  isSamePlace,
  type Place,
  type PlaceInstructions,
  readPlace,
} from './place-instructions.ts';

/**
 * The instructions and the context of a thread's prompts. The files are read at load, and again
 * when the place changes.
 */
export class Instructions {
  readonly #config: Config;
  readonly #extraRoots: () => readonly string[];
  #at: Place;
  #found: PlaceInstructions;
  #withheldNames: string[] | null = null;
  #network: ReturnType<typeof managedNetworkRule> | null = null;

  private constructor(
    { config, extraRoots }: InstructionsDeps,
    at: Place,
    found: PlaceInstructions,
  ) {
    this.#config = config;
    this.#extraRoots = extraRoots;
    this.#at = at;
    this.#found = found;
  }

  static async load(deps: InstructionsDeps, place: Place): Promise<Instructions> {
    return new Instructions(deps, place, await readPlace(deps, place));
  }

  /** The same for another place. */
  at(place: Place): Promise<Instructions> {
    return Instructions.load({ config: this.#config, extraRoots: this.#extraRoots }, place);
  }

  /**
   * The names of the skills that the list for the model does not describe, because it would be too
   * long.
   */
  get undescribedSkills(): string[] {
    return skillList(this.#found.skills).leftOut;
  }

  /** The folders in which skills are left out, because there are too many, and why. */
  get leftOutSkills(): SkillError[] {
    return this.#found.leftOutSkills;
  }

  /**
   * The absolute paths of the folders with files of skills, also of those that are switched off, or
   * left out because there are too many.
   */
  get skillFolders(): readonly string[] {
    return this.#found.skillFolders;
  }

  /** The absolute paths of the instruction files that are in the prompt. */
  get sources(): string[] {
    return this.#found.agentsMd.sources;
  }

  /**
   * The absolute paths of instruction files and skills that are links out of the project. They are
   * not followed.
   */
  get leftOut(): string[] {
    return this.#found.leftOut;
  }

  /** The instructions of every request. */
  base(settings: ThreadSettings): string {
    return settings.baseInstructions ?? BASE_INSTRUCTIONS;
  }

  /**
   * The context messages for the next turn: all of them if `told`, the context that the model last
   * got, is null; else those that have changed since. If nothing has changed, `told` is the same
   * object.
   */
  async contextUpdate({
    settings,
    granted,
    told,
    now,
  }: {
    settings: ThreadSettings;
    /** The permissions that users have granted for the session. */
    granted: readonly GrantedPermissions[];
    /** The context that the model last got; null: none. */
    told: JsonValue;
    /** In Unix milliseconds. */
    now: number;
  }): Promise<{ messages: ResponseItem[]; told: JsonValue }> {
    const found = await this.#foundAt(settings);
    const next = this.#contextOf(settings, { ...found, granted, now });
    if (!isContext(told)) return { messages: contextMessages(next), told: toldOf(next, told) };
    // To make and compare the texts takes longer.
    const { additional: _, ...last } = told;
    if (isDeepStrictEqual(last, next)) return { messages: [], told };
    return { messages: contextChanges(told, next), told: toldOf(next, told) };
  }

  /** The context of a turn with these settings, for the model. */
  #contextOf(
    settings: ThreadSettings,
    {
      agentsMd,
      skills,
      granted,
      now,
    }: Pick<PlaceInstructions, 'agentsMd' | 'skills'> & {
      granted: readonly GrantedPermissions[];
      now: number;
    },
  ): ContextInput {
    const {
      sandboxPolicy,
      approvalPolicy,
      workspaceRoots = [],
      developerInstructions,
      collaborationMode,
      personality,
      cwd,
    } = settings;
    // An invalid setting of agents takes only the agents away.
    const startsAgents = readOr(
      () => mayStartAgents(this.#config),
      () => false,
    );
    return {
      sandboxPolicy,
      approvalPolicy,
      workspaceRoots,
      ...(settings.hidden && { hidden: settings.hidden }),
      granted,
      managedNetwork: this.#managedNetwork(settings),
      asksForPermissions: this.#config.get('features.request_permissions_tool'),
      widensCommands: this.#config.get('features.exec_permission_approvals'),
      skills,
      developerInstructions,
      collaborationMode,
      ...(startsAgents && settings.multiAgentMode !== undefined
        ? { multiAgentMode: settings.multiAgentMode }
        : {}),
      personality,
      agentsMd,
      environment: describeEnvironment({
        cwd,
        env: this.#config.env,
        nowMs: now,
        withheld: this.#withheld,
      }),
    };
  }

  #managedNetwork(settings: ThreadSettings): ManagedNetwork | null {
    this.#network ??= managedNetworkRule(this.#config);
    const policy = this.#network(settings);
    if (policy === null) return null;
    const policies = [policy, ...(policy.also ?? [])];
    const allowed = policies.map((each) => hosts(each, 'allow'));
    const isAllowed = (host: string) => allowed.every((each) => each.has(host) || each.has('*'));
    return {
      limited: policies.some(({ mode }) => mode === 'limited'),
      allowed: [...new Set(allowed.flatMap((each) => [...each]))].filter(isAllowed),
      denied: [...new Set(policies.flatMap((each) => [...hosts(each, 'deny')]))],
    };
  }

  /**
   * The variables of the server's environment that commands do not get. They are the same for all
   * turns.
   */
  get #withheld(): string[] {
    this.#withheldNames ??= commandEnvironment(
      this.#config.env,
      environmentPolicy(this.#config),
    ).withheld;
    return this.#withheldNames;
  }

  /**
   * The messages with the skills that the input names. If a skill cannot be read, its message gives
   * the reason. The real path of one that is not known must satisfy `mayLieAt`, and that of each
   * the predicate that `mayBeSeen` resolves with.
   */
  async skillsNamedIn(
    input: readonly UserInput[],
    place: Place,
    {
      mayLieAt,
      mayBeSeen,
    }: { mayLieAt: (real: string) => boolean; mayBeSeen: () => Promise<(real: string) => boolean> },
  ): Promise<ResponseItem[]> {
    const { skills } = await this.#foundAt(place);
    const used = skillsUsed(input, skills);
    if (used.length === 0) return [];
    const { root } = projectFolders(place.cwd);
    const scopeOf = (path: string) => skills.find((known) => known.path === path)?.scope ?? null;
    const isAllowed = {
      user: () => true,
      repo: (real: string) => isBelow(real, root),
      other: mayLieAt,
    };
    const isSeen = await mayBeSeen();
    const messages: ResponseItem[] = [];
    for (const skill of used) {
      const isIn = isAllowed[scopeOf(skill.path) ?? 'other'];
      const body = await skillBody(skill, (real) => isIn(real) && isSeen(real));
      messages.push(
        'message' in body
          ? body.message
          : contextMessage('user', [`<skill>\n${body.warning}\n</skill>`]),
      );
    }
    return messages;
  }

  async #foundAt(place: Place): Promise<PlaceInstructions> {
    if (!isSamePlace(place, this.#at)) {
      this.#found = await readPlace({ config: this.#config, extraRoots: this.#extraRoots }, place);
      this.#at = place;
    }
    return this.#found;
  }
}

function isContext(told: JsonValue): told is ContextInput & JsonObject {
  return isObject(told) && 'environment' in told;
}

function toldOf(next: ContextInput, before: JsonValue): JsonValue {
  return withAdditional(next as unknown as JsonValue, before);
}

function hosts({ domains }: NetworkPolicy, access: 'allow' | 'deny'): Set<string> {
  return new Set(
    domains.filter((entry) => entry.access === access).map(({ pattern }) => patternText(pattern)),
  );
}
