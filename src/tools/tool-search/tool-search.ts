/** The name of the tool that finds deferred tools. */
export const TOOL_SEARCH_NAME = 'tool_search';
