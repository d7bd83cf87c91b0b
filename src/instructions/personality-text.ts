import type { Personality } from '../protocol/generated/types.ts';

/** Returns the instructions about tone; null if there are none. */
export function personalityText(personality: Personality | null): string | null {
  switch (personality) {
    case 'friendly':
      return 'Tone: be warm and encouraging, like a good colleague. Explain why as well as what, take doubts seriously, and give credit. Stay precise, and do not flatter.';
    case 'pragmatic':
      return 'Tone: be direct and matter-of-fact. Lead with the result, write only what helps the task, name trade-offs and risks plainly, and leave out pleasantries.';
    case 'none':
    case null:
      return null;
    default:
      return personality satisfies never;
  }
}
