import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  asAccepted,
  bundleDefinitions,
  type Definitions,
  readErrorTable,
  readMethodTable,
  readSchema,
} from './bundle.ts';
import { generateErrorCode } from './generate-error-code.ts';
import { generateErrorsPages } from './generate-errors-pages.ts';
import { generateMethods } from './generate-methods.ts';
import { generateMethodsPages } from './generate-methods-pages.ts';
import { generateModelScript } from './generate-model-script.ts';
import { generateParamNames, PARAM_NAMES_TYPES } from './generate-param-names.ts';
import { generateTypes } from './generate-types.ts';
import {
  answerExports,
  declareValidators,
  generateValidators,
  paramsExports,
  sentExports,
} from './generate-validators.ts';
import { providedItems } from './provided-items.ts';

const schemaFolder = import.meta.dirname;
const projectFolder = dirname(schemaFolder);

const definitions = bundleDefinitions(schemaFolder);
const accepted = asAccepted(definitions);
const methods = readMethodTable(schemaFolder);
const errors = readErrorTable(schemaFolder);
const params = paramsExports(methods);
const answers = answerExports(methods);
const sent = sentExports(methods);
// A reference, because ajv compiles an exported definition separately from the same definition
// inside params.
const itemAlone = { allOf: [{ $ref: '#/definitions/ResponseItem' }] };
const provided = providedItems(definitions);
const providedItemTypes = {
  validateProvidedItem: Object.fromEntries(Object.keys(provided).map((type) => [type, type])),
};
const required = readRequired('ItemStartedNotification');

write('src/protocol/generated/types.ts', await generateTypes(accepted, methods));
write('src/protocol/generated/methods.ts', generateMethods(definitions, methods));
write('src/protocol/generated/error-code.ts', generateErrorCode(errors));
write('src/protocol/generated/param-names.js', generateParamNames(definitions, methods));
write('src/protocol/generated/param-names.d.ts', PARAM_NAMES_TYPES);
write(
  'src/protocol/generated/model-script.ts',
  await generateModelScript(readSchema(join(schemaFolder, 'model-script.schema.json'))),
);
write(
  'src/protocol/generated/validate-handshake.js',
  await generateValidators(accepted, params.handshake),
);
write('src/protocol/generated/validate-handshake.d.ts', declareValidators(params.handshake));
write(
  'src/protocol/generated/validate-params.js',
  await generateValidators({ ...accepted, ItemAlone: itemAlone }, params.others),
);
write('src/protocol/generated/validate-params.d.ts', declareValidators(params.others));
write('src/protocol/generated/validate-answers.js', await generateValidators(accepted, answers));
write('src/protocol/generated/validate-answers.d.ts', declareValidators(answers));
write(
  'src/protocol/generated/validate-provided-item.js',
  await generateValidators(provided, providedItemTypes),
);
write('src/protocol/generated/validate-provided-item.d.ts', declareValidators(providedItemTypes));
write('test/support/generated/validate-sent.js', await generateValidators(definitions, sent));
write('test/support/generated/validate-sent.d.ts', declareValidators(sent));
write(
  'test/support/generated/validate-required.js',
  await generateValidators(required, {
    validateRequired: { 'item/started': 'ItemStartedNotification' },
  }),
);
write('test/support/generated/validate-required.d.ts', declareValidators({ validateRequired: {} }));
const pages = {
  ...generateMethodsPages(definitions, { methods, errors }),
  ...generateErrorsPages(errors),
};
for (const [path, text] of Object.entries(pages)) write(path, text);

/** A schema that clients require the server to follow, with its definitions. */
function readRequired(name: string): Definitions {
  const { definitions, ...main } = readSchema(
    join(projectFolder, 'test/protocol/required', `${name}.json`),
  );
  return { ...definitions, [name]: main };
}

function write(path: string, text: string): void {
  const file = join(projectFolder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
