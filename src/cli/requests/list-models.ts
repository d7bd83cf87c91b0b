import type { Client } from '../../client/client.ts';
import type { Terminal } from '../terminal/terminal-at.ts';
import { allPages, collected } from './all-pages.ts';
import { type Column, table } from './table.ts';

const COLUMNS: Column[] = [
  { title: 'MODEL' },
  { title: '' },
  { title: 'EFFORTS' },
  { title: 'DESCRIPTION', keeps: 'start' },
];

interface Listing {
  json: boolean;
  /** Whether the command line overrides config.toml. */
  isOverridden: boolean;
}

const EMBEDDED = 'embedded';

/** Prints the models of the configured provider. Returns whether there are any. */
export async function listModels(
  client: Client,
  { json, isOverridden }: Listing,
  { print, note, columns }: Terminal,
): Promise<boolean> {
  const models = await collected(allPages((cursor) => client.request('model/list', { cursor })));
  if (json) print(`${JSON.stringify({ data: models })}\n`);
  else if (models.length === 0)
    print(
      `No model is known. "heddle doctor"${isOverridden ? ', with the same -c and -p,' : ''} says what is wrong with the provider.\n`,
    );
  else {
    const rows = models.map(({ id, isDefault, supportedReasoningEfforts, description }) => [
      id,
      isDefault ? 'default' : '',
      supportedReasoningEfforts.map(({ reasoningEffort }) => reasoningEffort).join(', '),
      description,
    ]);
    print(table(COLUMNS, rows, columns));
    // The configured model is listed even if the provider does not answer.
    if (models.length === 1 && models[0]?.id !== EMBEDDED)
      note(
        'Only the configured model is listed. "heddle doctor" says whether the provider answers, and whether it has the model.\n',
      );
  }
  return models.length > 0;
}
