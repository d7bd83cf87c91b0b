import { isBelow } from '../../base/is-within.ts';
import { isObject, type JsonValue } from '../../base/json-value.ts';
import type { Config } from '../../config/config.ts';
import { environmentPolicy } from '../../config/environment-policy.ts';
import { projectFolders } from '../../config/layers/project-folders.ts';
import { type AgentsMd, readAgentsMd } from '../../instructions/agents-md.ts';
import { BASE_INSTRUCTIONS } from '../../instructions/base-instructions.ts';
import { type ContextInput, contextChanges, contextMessages } from '../../instructions/context-messages.ts';
import { describeEnvironment } from '../../instructions/environment-text.ts';
import { findSkills, type Skill } from '../../instructions/find-skills.ts';
import { linksOut } from '../../instructions/links-out.ts';
import { skillBody, skillsUsed } from '../../instructions/skill-body.ts';
import { commandEnvironment } from '../../policy/command/command-environment.ts';
import type { GrantedPermissions } from '../../policy/permissions/sandbox-bounds.ts';
import type { ResponseItem, UserInput } from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-store.ts';

/** What a folder says to those who work in it. */
interface FolderInstructions {
  agentsMd: AgentsMd;
  skills: Skill[];
  /** Links that are not followed. */
  leftOut: string[];
}

/** What the model is told beside the conversation. The files are read at load, and again when a turn moves elsewhere. */
export class Instructions {
  readonly #config: Config;
  #cwd: string;
  #folder: FolderInstructions;

  private constructor(config: Config, cwd: string, folder: FolderInstructions) {
    this.#config = config;
    this.#cwd = cwd;
    this.#folder = folder;
  }

  static async load(config: Config, cwd: string): Promise<Instructions> {
    return new Instructions(config, cwd, await readFolder(config, cwd));
  }

  /** The absolute paths of the instruction files in force. */
  get sources(): string[] {
    return this.#folder.agentsMd.sources;
  }

  /** Links in place of instruction files and skills that are not followed: absolute paths. */
  get leftOut(): string[] {
    return this.#folder.leftOut;
  }

  /** The text that opens every request. */
  base(settings: ThreadSettings): string {
    return settings.baseInstructions ?? BASE_INSTRUCTIONS;
  }

  /** What the model has to be told before a turn: all of it at first, later only what has changed since. */
  async news({
    settings,
    granted,
    told,
    now,
  }: {
    settings: ThreadSettings;
    /** What users have granted for the session. */
    granted: readonly GrantedPermissions[];
    told: JsonValue;
    now: number;
  }): Promise<{ messages: ResponseItem[]; told: JsonValue }> {
    const { agentsMd, skills } = await this.#at(settings.cwd);
    const { sandboxPolicy, approvalPolicy, workspaceRoots = [], developerInstructions, collaborationMode, personality, cwd } = settings;
    const next: ContextInput = {
      sandboxPolicy,
      approvalPolicy,
      workspaceRoots,
      granted,
      asksForPermissions: this.#config.get('features.request_permissions_tool'),
      widensCommands: this.#config.get('features.exec_permission_approvals'),
      skills,
      developerInstructions,
      collaborationMode,
      personality,
      agentsMd,
      environment: describeEnvironment({ cwd, env: this.#config.env, nowMs: now, withheld: this.#withheld() }),
    };
    const messages = wasTold(told) ? contextChanges(told, next) : contextMessages(next);
    return { messages, told: next as unknown as JsonValue };
  }

  /** What commands do not find in their environment, though the server has it. */
  #withheld(): string[] {
    return commandEnvironment(this.#config.env, environmentPolicy(this.#config)).withheld;
  }

  /** The skills that the input calls for, as the model reads them; one that cannot be read is said to be missing. */
  async skillsNamedIn(input: readonly UserInput[], cwd: string): Promise<ResponseItem[]> {
    const { skills } = await this.#at(cwd);
    const { root } = projectFolders(cwd);
    const isProjects = (path: string) => skills.some((known) => known.path === path && known.scope === 'repo');
    return skillsUsed(input, skills).map((skill) => {
      const body = skillBody(skill, (real) => !isProjects(skill.path) || isBelow(real, root));
      return 'message' in body
        ? body.message
        : { type: 'message', role: 'user', content: [{ type: 'input_text', text: `<skill>\n${body.warning}\n</skill>` }] };
    });
  }

  async #at(cwd: string): Promise<FolderInstructions> {
    if (cwd !== this.#cwd) {
      this.#folder = await readFolder(this.#config, cwd);
      this.#cwd = cwd;
    }
    return this.#folder;
  }
}

async function readFolder(config: Config, cwd: string): Promise<FolderInstructions> {
  const fallbackFileNames = config.get('project_doc_fallback_filenames');
  const agentsMd = readAgentsMd({
    home: config.home,
    cwd,
    projectBytesMax: config.get('project_doc_max_bytes'),
    fallbackFileNames,
  });
  const { skills } = await findSkills({ home: config.home, cwd });
  return { agentsMd, skills, leftOut: linksOut(cwd, fallbackFileNames) };
}

function wasTold(told: JsonValue): told is ContextInput & JsonValue {
  return isObject(told) && 'environment' in told;
}
