import type { CollaborationMode, Personality, ResponseItem } from '../protocol/generated/types.ts';
import type { AgentsMd } from './agents-md.ts';
import { collaborationModeText } from './collaboration-mode-text.ts';
import { contextMessage } from './context-message.ts';
import { type Environment, environmentText } from './environment-text.ts';
import type { Skill } from './find-skills.ts';
import { type PermissionsInput, permissionsText } from './permissions-text.ts';
import { personalityText } from './personality-text.ts';
import { skillsText } from './skills-text.ts';

/** All that the model is told of a turn's surroundings, as plain data: kept with a turn, it is compared at the next. */
export interface ContextInput extends PermissionsInput {
  skills: Skill[];
  developerInstructions: string | null;
  collaborationMode: CollaborationMode;
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
 * The messages that tell the model what has changed since an earlier turn; none where nothing has. What no longer holds
 * is said to do so, since the model still reads the earlier messages.
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
  /** Null: nothing to say. */
  text(input: ContextInput): string | null;
  /** Said when a later turn has nothing to say any more. */
  ended: string;
}

const DEVELOPER_PARTS: ContextPart[] = [
  { text: (input) => permissionsText(input), ended: '' },
  { text: (input) => skillsText(input.skills), ended: 'The skills listed earlier are no longer available.' },
  { text: (input) => nonBlank(input.developerInstructions), ended: 'The developer instructions given earlier no longer hold.' },
  {
    text: (input) => collaborationModeText(input.collaborationMode),
    ended: 'The collaboration mode has changed back to the default: the instructions of the earlier mode no longer hold.',
  },
  { text: (input) => personalityText(input.personality), ended: 'The tone asked for earlier no longer holds.' },
];

const USER_PARTS: ContextPart[] = [
  {
    text: (input) => agentsMdText(input.agentsMd),
    ended: '# AGENTS.md instructions: none any more\n\nThose given earlier no longer hold.',
  },
  { text: (input) => environmentText(input.environment), ended: '' },
];

function agentsMdText({ folder, text }: AgentsMd): string | null {
  if (text === '') return null;
  return `# AGENTS.md instructions for ${folder}

How the user and the authors of this project want work to be done here. Where two files differ, the later one counts; these
replace any given earlier.

${text}`;
}

function nonBlank(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text;
}

/** One developer message of many parts, then user messages of one part; a text said twice is said once. */
function assemble(developer: (string | null)[], user: (string | null)[]): ResponseItem[] {
  const developerTexts = [...new Set(developer.filter((text) => text !== null))];
  const userTexts = user.filter((text) => text !== null);
  const messages = userTexts.map((text) => contextMessage('user', [text]));
  return developerTexts.length === 0 ? messages : [contextMessage('developer', developerTexts), ...messages];
}
