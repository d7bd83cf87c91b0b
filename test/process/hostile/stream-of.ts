import { completed, created, sse } from '../../model/provider-server.ts';

/** The stream of a response with these output items. */
export function streamOf(items: readonly object[]): string {
  const parts = [sse(created)];
  for (const [index, item] of items.entries()) {
    parts.push(
      sse({
        type: 'response.output_item.added',
        output_index: index,
        item: { ...item, ...('input' in item ? { input: '' } : {}) },
      }),
    );
    parts.push(sse({ type: 'response.output_item.done', output_index: index, item }));
  }
  return [...parts, sse(completed)].join('');
}
