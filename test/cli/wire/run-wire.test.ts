import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { runWire, type WireHost } from '../../../src/cli/wire/run-wire.ts';
import { SCHEMA } from './wire-fields.ts';

/** A stream that keeps its text. */
class Kept extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += String(chunk);
    done();
  }
}

test('a server that ends is reported, and ends the session', async () => {
  const [stdin, stdout, stderr] = [new PassThrough(), new Kept(), new Kept()];
  const host: WireHost = {
    ...{ version: '0', env: {}, stdin, stdout, stderr, schemaDir: SCHEMA },
    onSignal: () => {},
    onReaderGone: () => {},
    exit: () => {},
    limitClose: () => {},
    async start({ input, output }) {
      // It ends when it reads something.
      const ended = new Promise<void>((resolve) => input.once('data', () => resolve()));
      return {
        server: { connect: () => ended, close: async () => ['the last words\nof the server'] },
        transport: { end: () => output.end() } as unknown as Awaited<
          ReturnType<WireHost['start']>
        >['transport'],
        end: () => {},
      };
    },
  };
  stdin.write('model/list\nmodel/list\n');
  const exitCode = await runWire({ save: null, replay: null, whole: false }, host);
  expect({ exitCode, stdout: stdout.text, stderr: stderr.text }).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `heddle: the server has ended the connection
heddle: line 1: initialize: the server has ended the connection
heddle: the last words
of the server
`,
  });
});
