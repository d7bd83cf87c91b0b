import { join } from 'node:path';
import type { TestClient } from '../../support/test-client.ts';
import type { HostileWorld } from './hostile-world.ts';

/** What bubblewrap writes if it cannot make the sandbox: the command never began. */
const NOT_BEGUN = /^bwrap: /;

/** Returns the texts of the refusals in a turn that do not name the place which is the reason. */
export function problemsWithRefusals(client: TestClient, turnId: string, world: HostileWorld): string[] {
  return refusals(client, turnId).filter((text) => !namesPlace(text, world));
}

/** Commands that were shown and did not begin. */
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
  return places.some((place) => spellings(place).some((spelling) => text.includes(spelling))) || namesEntry(text, work);
}

/** Whether a path below the workspace is named: commands make further places. */
function namesEntry(text: string, work: string): boolean {
  return spellings(join(work, 'x')).some((spelling) => text.includes(spelling.slice(0, -1)));
}

/** As it is, and as JSON has it. */
function spellings(place: string): string[] {
  return [place, JSON.stringify(place).slice(1, -1)];
}
