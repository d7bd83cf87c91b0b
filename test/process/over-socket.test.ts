import { join } from 'node:path';
import { expect, test } from 'vitest';
import { brief } from '../support/expected.ts';
import { place, startHeddle } from './support.ts';

const OVER_SOCKET = join(import.meta.dirname, '..', 'support', 'run', 'over-socket.sh');

test.each(['ws', 'unix'])(
  '%s: a program that speaks with servers on stdio tests one that listens',
  async (kind) => {
    const where = place({ 'config.toml': 'model_provider = "scripted"\n' });
    const heddle = await startHeddle(where, {
      through: ['/bin/sh', OVER_SOCKET, kind],
      // The line that names the address is none of the log's.
      errorsLogged: true,
    });
    const { thread } = await heddle.request('thread/start', {});
    const { items } = await heddle.turn(thread.id, 'say Hello.');
    expect(brief(items)).toEqual(['agent: Hello.']);
    expect(await heddle.finish()).toEqual({ code: 0, signal: null });
  },
);
