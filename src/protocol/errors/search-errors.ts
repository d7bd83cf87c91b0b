import { cutText } from '../../base/text/cut-text.ts';
import { type RpcError, refused, SHOWN_CHARS_MAX } from '../rpc-error.ts';

export function emptySearchField(field: 'sessionId' | 'roots'): RpcError {
  return refused('empty_search_field', `${field} must not be empty`, { field });
}

export function searchSessionNotFound(sessionId: string): RpcError {
  return refused(
    'search_session_not_found',
    `fuzzy file search session not found: ${cutText(sessionId, SHOWN_CHARS_MAX)}`,
  );
}

export function tooManySearchSessions(sessionsMax: number): RpcError {
  const message = `a connection can have at most ${sessionsMax} search sessions: end some with fuzzyFileSearch/sessionStop`;
  return refused('too_many_search_sessions', message, { maxSessions: sessionsMax });
}

export function tooManyRoots(rootsMax: number): RpcError {
  return refused('too_many_roots', `a search can have at most ${rootsMax} roots`, {
    maxRoots: rootsMax,
  });
}

export function searchUnavailable(): RpcError {
  const message =
    'files cannot be searched, because ripgrep is not installed: install heddle with its optional dependencies';
  return refused('search_unavailable', message);
}

export function longSearchQuery(chars: { maxChars: number; actualChars: number }): RpcError {
  return refused(
    'search_query_too_long',
    `a query can have at most ${chars.maxChars} characters`,
    chars,
  );
}

/** `reason`: a main clause. */
export function searchFailed(reason: string): RpcError {
  return refused(
    'search_failed',
    `the search failed, because ${reason}: try again, or search fewer roots`,
  );
}
