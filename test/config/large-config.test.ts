import { expect, test } from 'vitest';
import { configWarnings } from '../../src/config/problems/config-warnings.ts';
import { policyReads } from '../../src/policy/policy-reads.ts';
import { sourcesIn } from './load.ts';
import { tempFolder } from './temp-folder.ts';

const PARTS: Record<string, (index: number) => string> = {
  profiles: (index) => `[profiles.p${index}]\nmodel = "m"\n`,
  projects: (index) => `[projects."/home/user/p${index}"]\ntrust_level = "trusted"\n`,
  'invalid projects': (index) => `[projects."p${index}"]\ntrust_level = "trusted"\n`,
  providers: (index) => `[model_providers.p${index}]\nbase_url = "http://127.0.0.1/${index}"\n`,
  'invalid providers': (index) => `[model_providers.p${index}]\nbase_url = ${index}\n`,
  'unknown keys': (index) => `[unknown${index}]\nkey = "value"\n`,
  servers: (index) => `[mcp_servers.s${index}]\ncommand = "none"\nenabled = false\n`,
  'invalid servers': (index) => `[mcp_servers.s${index}]\ncommand = ${index}\n`,
  roles: (index) => `[agents.r${index}]\ndescription = "role"\n`,
  'invalid roles': (index) => `[agents.r${index}]\ndescription = ${index}\n`,
  'permission profiles': (index) => `[permissions.p${index}]\nextends = ":workspace"\n`,
  'invalid permission profiles': (index) => `[permissions.p${index}]\nextends = ${index}\n`,
};
const FEW = 400;
const TIMES_MORE = 8;
/** If each part were looked for among all others, it would be 64 times. */
const GROWTH_MAX = 40;

async function readingMs(part: (index: number) => string, count: number): Promise<number> {
  const home = tempFolder({
    'config.toml': Array.from({ length: count }, (_, index) => part(index)).join(''),
  });
  const sources = sourcesIn(home, { env: { OPENAI_API_KEY: 'k' } });
  let least = Number.POSITIVE_INFINITY;
  for (let times = 0; times < 3; times++) {
    const before = process.cpuUsage();
    const warnings = await configWarnings(sources, policyReads);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, user + system);
    expect(warnings[0]?.summary ?? '').not.toContain('the file is larger');
  }
  return least / 1000;
}

test.each(Object.entries(PARTS))(
  'reading a configuration with many %s takes time that grows with their number',
  async (_name, part) => {
    const few = await readingMs(part, FEW);
    const many = await readingMs(part, FEW * TIMES_MORE);
    expect(many / few, `${few.toFixed(1)} and ${many.toFixed(1)} ms`).toBeLessThan(GROWTH_MAX);
  },
);
