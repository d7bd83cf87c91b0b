import { join } from 'node:path';
import type { TestClient } from '../../support/test-client.ts';
import type { HostileWorld } from './hostile-world.ts';

/** The error of bubblewrap if it cannot create the sandbox. Then the command has not started. */
const NOT_BEGUN = /^bwrap: /;

/** Returns the texts of the refusals in a turn that do not name the place that causes them. */
export function problemsWithRefusals(
  client: TestClient,
  turnId: string,
  world: HostileWorld,
): string[] {
  return refusals(client, turnId).filter((text) => !namesPlace(text, world));
}

/** The errors of commands that were shown and did not start. */
function refusals(client: TestClient, turnId: string): string[] {
  return client
    .notifications('item/completed', (sent) => sent.turnId === turnId)
    .flatMap(({ item }) => {
      if (item.type !== 'commandExecution' || item.status !== 'failed') return [];
      const text = item.aggregatedOutput ?? '';
      return item.exitCode === null || NOT_BEGUN.test(text) ? [text] : [];
    });
}

function namesPlace(text: string, { offenders, work, cwd }: HostileWorld): boolean {
  const places = [...offenders, ...(cwd === work ? [] : [cwd])];
  return (
    places.some((place) => spellings(place).some((spelling) => text.includes(spelling))) ||
    namesEntry(text, work)
  );
}

/** Whether the text names a path below the workspace. Commands create further places there. */
function namesEntry(text: string, work: string): boolean {
  return spellings(join(work, 'x')).some((spelling) => text.includes(spelling.slice(0, -1)));
}

/** The path as it is, and as JSON encodes it. */
function spellings(place: string): string[] {
  return [place, JSON.stringify(place).slice(1, -1)];
}
