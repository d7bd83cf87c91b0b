import { expect, test } from 'vitest';
import { demoOptions } from '../../examples/demo/demo-options.ts';

const EMBEDDED = ['model_provider="scripted"', 'model_providers.scripted.wire_api="scripted"'];
const OPTIONS = 'Options: --wire, --model NAME, -c KEY=VALUE, --help';

test.each([
  [[], { help: false, wire: false, model: null, settings: EMBEDDED }],
  [['--wire'], { help: false, wire: true, model: null, settings: EMBEDDED }],
  [['-h'], { help: true, wire: false, model: null, settings: EMBEDDED }],
  [['--model', 'a"b'], { help: false, wire: false, model: 'a"b', settings: ['model="a\\"b"'] }],
  [
    ['-c', 'model_provider=ollama', '--model=m'],
    { help: false, wire: false, model: 'm', settings: ['model_provider=ollama', 'model="m"'] },
  ],
])('%j are options', (args, options) => {
  expect(demoOptions(args)).toEqual(options);
});

test.each([
  [['--wires'], "Unknown option '--wires'"],
  [['-x'], "Unknown option '-x'"],
  [['now'], "Unexpected argument 'now'"],
  [['--wire=yes'], "Option '--wire' does not take an argument"],
  [['--model'], "Option '--model <value>' argument missing"],
  [['--model', '--wire'], "Option '--model' argument is ambiguous"],
  [['--model='], '--model requires the name of a model'],
  [
    ['-c', 'model_provider=ollama'],
    '-c needs --model NAME, which asks for another model than the embedded one',
  ],
])('%j are refused with one line', (args, problem) => {
  expect(() => demoOptions(args)).toThrow(new Error(`${problem}. ${OPTIONS}`));
});
