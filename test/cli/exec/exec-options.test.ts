import { expect, test } from 'vitest';
import { execOptions } from '../../../src/cli/exec/exec-options.ts';

test.each([
  [['model_provider=ollama', 'model=qwen3'], { modelProvider: 'ollama', model: 'qwen3' }],
  [['"model_provider" = "o l" # local', "model='q'"], { modelProvider: 'o l', model: 'q' }],
  [['model_provider=a', 'model_provider=b'], { modelProvider: 'b' }],
  [['model_verbosity="low"', 'features.model=true', 'model=["a"]'], {}],
])('-c %j chooses the provider and the model of a thread that is continued', (config, settings) => {
  expect(execOptions(['hi'], { config, last: true }).settings).toEqual(settings);
});

test('-m counts more than -c model', () => {
  const values = { config: ['model=a'], model: 'b', last: true };
  expect(execOptions(['hi'], values).settings).toEqual({ model: 'b' });
});
