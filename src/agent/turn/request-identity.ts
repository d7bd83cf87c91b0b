import { arch, type as osType, release } from 'node:os';
import { jsonWeight } from '../../base/text/json-pieces.ts';
import type { ModelRequest } from '../../model/model.ts';
import { PROTOCOL_VERSION } from '../../protocol/protocol-version.ts';
import { spawnSource } from '../../store/spawn-source.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import type { TurnContext } from './turn-part.ts';

/**
 * The origin of a request: a turn, with the facts that its client adds, a review of code, or the
 * summary of a compaction.
 */
interface RequestOrigin {
  record: ThreadRecord;
  turn: TurnContext;
  kind: 'turn' | 'review' | 'compaction';
}

/**
 * Facts of a client that make a longer header are only in the body. Servers refuse long headers.
 */
const HEADER_CHARS_MAX = 4_096;
/** More facts of a client are not sent at all. */
const CLIENT_CHARS_MAX = 16 * 1024;
/** Text that a header can carry unchanged. */
const HEADER_TEXT = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** A client with a longer name is not named. */
const ORIGINATOR_CHARS_MAX = 200;

/**
 * The headers and the facts by which gateways and providers know the thread, the turn and the
 * client of a request. None of them is a secret. The facts that a client adds do not replace those
 * of the server.
 */
export function requestIdentity(
  origin: RequestOrigin,
): Required<Pick<ModelRequest, 'headers' | 'clientMetadata'>> {
  const { record, turn } = origin;
  const { id: threadId, sessionId, originator } = record;
  const isName =
    originator !== null &&
    originator.length <= ORIGINATOR_CHARS_MAX &&
    HEADER_TEXT.test(originator);
  const client = isName ? originator : 'heddle';
  const windowId = `${threadId}:${record.tokenUsage?.compactions ?? 0}`;
  const facts = turnFacts(origin, windowId);
  const metadata = asciiJson(facts.withClients);
  const about = { 'x-codex-window-id': windowId, ...agentFacts(origin) };
  return {
    headers: sendable({
      originator: client,
      'user-agent': `${client}/${PROTOCOL_VERSION} (${osType()} ${release()}; ${arch()}) heddle`,
      'session-id': sessionId,
      'thread-id': threadId,
      ...about,
      'x-codex-turn-metadata': metadata.length > HEADER_CHARS_MAX ? asciiJson(facts.own) : metadata,
    }),
    clientMetadata: {
      thread_id: threadId,
      session_id: sessionId,
      turn_id: turn.id,
      root_turn_id: turn.rootTurnId,
      ...about,
      'x-codex-turn-metadata': metadata,
    },
  };
}

function turnFacts(
  { record, turn, kind }: RequestOrigin,
  windowId: string,
): { own: object; withClients: object } {
  const { forkedFromId } = record;
  const parent = spawnSource(record.source)?.parent_thread_id;
  const own = {
    session_id: record.sessionId,
    thread_id: record.id,
    turn_id: turn.id,
    root_turn_id: turn.rootTurnId,
    window_id: windowId,
    request_kind: kind,
    turn_started_at_unix_ms: turn.startedAtMs,
    model: turn.settings.model,
    ...(forkedFromId === null ? {} : { forked_from_thread_id: forkedFromId }),
    ...(parent === undefined ? {} : { parent_thread_id: parent }),
  };
  const isLong = jsonWeight(turn.clientMetadata, CLIENT_CHARS_MAX) > CLIENT_CHARS_MAX;
  return { own, withClients: isLong ? own : { ...turn.clientMetadata, ...own } };
}

/** The headers that name a sub-agent and the thread for which it works. */
function agentFacts({ record, kind }: RequestOrigin): Record<string, string> {
  const parent = spawnSource(record.source)?.parent_thread_id;
  const name = kind === 'review' ? 'review' : parent === undefined ? null : 'collab_spawn';
  return {
    ...(name === null ? {} : { 'x-openai-subagent': name }),
    ...(parent === undefined ? {} : { 'x-codex-parent-thread-id': parent }),
  };
}

/** Threads that were imported before their ids were checked can have any text. */
function sendable(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => HEADER_TEXT.test(value)));
}

/** JSON text that a header can have. */
function asciiJson(value: object): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
