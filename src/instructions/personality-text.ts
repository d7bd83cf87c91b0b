import type { Personality } from '../protocol/generated/types.ts';

/** The tone that the model is asked for; null for none in particular. */
export function personalityText(personality: Personality | null): string | null {
  switch (personality) {
    case 'friendly':
      return 'Tone: be warm and encouraging, as a good colleague is. Explain the why along with the what, take doubts seriously, and give credit. Stay exact; no flattery.';
    case 'pragmatic':
      return 'Tone: be direct and matter-of-fact. Lead with the result, keep to what helps the task along, name trade-offs and risks plainly, and leave pleasantries out.';
    case 'none':
    case null:
      return null;
    default:
      return personality satisfies never;
  }
}
