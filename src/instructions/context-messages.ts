import type {
  CollaborationMode,
  MultiAgentMode,
  Personality,
  ResponseItem,
} from '../protocol/generated/types.ts';
import type { AgentsMd } from './agents-md.ts';
import { collaborationModeText, multiAgentText } from './collaboration-mode-text.ts';
import { type Environment, environmentText } from './environment-text.ts';
import { contextMessage } from './messages/context-message.ts';
import { type PermissionsInput, permissionsText } from './permissions-text.ts';
import { personalityText } from './personality-text.ts';
import { type ListedSkill, NO_PROJECT_SKILLS, skillList } from './skills/skill-list.ts';

/**
 * Everything that the model reads about a turn's context, as plain data. It is stored with the
 * turn, and compared with the context of the next turn.
 */
export interface ContextInput extends PermissionsInput {
  skills: readonly ListedSkill[];
  developerInstructions: string | null;
  collaborationMode: CollaborationMode;
  /** Absent: the default, or the model has no tools for agents. */
  multiAgentMode?: MultiAgentMode;
  personality: Personality | null;
  agentsMd: AgentsMd;
  environment: Environment;
}

/** The messages that come before a thread's first user message. */
export function contextMessages(input: ContextInput): ResponseItem[] {
  return assemble(
    DEVELOPER_PARTS.map((part) => part.text(input)),
    USER_PARTS.map((part) => part.text(input)),
  );
}

/**
 * The messages that tell the model what has changed since an earlier turn; empty if nothing has.
 * Instructions that no longer apply are revoked, since the model still reads the earlier messages.
 */
export function contextChanges(previous: ContextInput, next: ContextInput): ResponseItem[] {
  const changes = (part: ContextPart) => {
    const text = part.text(next);
    if (text === part.text(previous)) return null;
    return text ?? part.ended;
  };
  return assemble(DEVELOPER_PARTS.map(changes), USER_PARTS.map(changes));
}

interface ContextPart {
  /** Returns the text of this part; null if it is empty. */
  text(input: ContextInput): string | null;
  /**
   * Tells the model that the earlier text of this part no longer applies. Used when the part has
   * become empty.
   */
  ended: string;
}

const DEVELOPER_PARTS: ContextPart[] = [
  { text: (input) => permissionsText(input), ended: '' },
  {
    text: (input) => skillList(input.skills).text,
    ended: 'The skills listed earlier are no longer available.',
  },
  {
    text: (input) => nonBlank(input.developerInstructions),
    ended: 'The earlier developer instructions no longer apply.',
  },
  {
    text: (input) => collaborationModeText(input.collaborationMode),
    ended:
      'The collaboration mode has changed back to the default. The instructions of the earlier mode no longer apply.',
  },
  {
    text: (input) => multiAgentText(input.multiAgentMode ?? 'explicitRequestOnly'),
    ended:
      'Start agents only if the user asks for agents or for parallel work. The earlier instructions about agents no longer apply.',
  },
  {
    text: (input) => personalityText(input.personality),
    ended: 'The earlier instructions about tone no longer apply.',
  },
];

const USER_PARTS: ContextPart[] = [
  { text: (input) => skillList(input.skills).ofProject, ended: NO_PROJECT_SKILLS },
  {
    text: (input) => agentsMdText(input.agentsMd),
    ended: '# AGENTS.md instructions: none\n\nThe earlier AGENTS.md instructions no longer apply.',
  },
  { text: (input) => environmentText(input.environment), ended: '' },
];

function agentsMdText({ folder, text }: AgentsMd): string | null {
  if (text === '') return null;
  return `# AGENTS.md instructions for ${folder}

The user and the authors of this project want you to work as these files say. If two files conflict, follow the later one. These
instructions replace any given earlier.

${text}`;
}

function nonBlank(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text;
}

/**
 * Makes one developer message of many parts, and a user message for each user text. Repeated
 * developer texts are left out.
 */
function assemble(developer: (string | null)[], user: (string | null)[]): ResponseItem[] {
  const developerTexts = [...new Set(developer.filter((text) => text !== null))];
  const userTexts = user.filter((text) => text !== null);
  const messages = userTexts.map((text) => contextMessage('user', [text]));
  return developerTexts.length === 0
    ? messages
    : [contextMessage('developer', developerTexts), ...messages];
}
