import { expect, onTestFinished, test } from 'vitest';
import { ConfigError } from '../../src/config/toml/config-error.ts';
import { SkillFolders } from '../../src/instructions/skills/skill-folders.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingLog } from '../support/recording-log.ts';

test('a watch on many folders searches each of the last 16 once', async () => {
  const searched: string[] = [];
  const folders = new SkillFolders({
    clock: new FakeClock(),
    log: new RecordingLog(),
    home: tempFolder(),
    env: {},
    config: async (cwd) => {
      searched.push(cwd);
      throw new ConfigError('not read');
    },
    onChange: () => {},
  });
  onTestFinished(() => folders.close());
  const cwds = Array.from({ length: 50 }, (_, index) => `/none/${index}`);
  await folders.watch(cwds);
  expect(searched).toEqual(cwds.slice(-16));
  await folders.watch(cwds.slice(-16));
  expect(searched.length).toBe(16);
});
