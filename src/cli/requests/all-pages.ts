interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

/** Gives each element of a list that the server answers in pages. */
export async function* allPages<T>(
  ask: (cursor: string | null) => Promise<Page<T>>,
): AsyncGenerator<T> {
  for (let cursor: string | null = null; ; ) {
    const page: Page<T> = await ask(cursor);
    yield* page.data;
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
  }
}

export async function collected<T>(elements: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const element of elements) all.push(element);
  return all;
}
