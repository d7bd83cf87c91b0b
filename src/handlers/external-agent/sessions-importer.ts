import { isAbsolute, join } from 'node:path';
import type { Threads } from '../../agent/threads/threads.ts';
import type { Clock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import { FileRefusedError } from '../../base/files/file-refused-error.ts';
import type { Ids } from '../../base/ids.ts';
import { isFolder } from '../../base/paths/is-folder.ts';
import { cutText } from '../../base/text/cut-text.ts';
import type { ExternalAgentConfigSession } from '../../protocol/generated/types.ts';
import { readSession, readSessionFacts } from '../../rollout/session/read-session.ts';
import type { SessionFacts } from '../../rollout/session/session-reader.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import {
  type AskedItems,
  type Importer,
  type Outcome,
  type Refused,
  SourceError,
  type Taken,
} from './found.ts';
import { userHomeOf } from './scope.ts';
import {
  readSessionFile,
  type SessionBytes,
  type SessionFile,
  sessionFileAt,
  sessionFiles,
} from './session-files.ts';
import { type ImportedSession, SessionLedger } from './session-ledger.ts';
import { whyRefused } from './take-each.ts';

export interface SessionServices {
  home: string;
  env: Env;
  ids: Ids;
  clock: Clock;
  threads: Pick<Threads, 'import'>;
  store: Pick<ThreadStore, 'getThread'>;
}

const SESSIONS_MAX_DEFAULT = 50;
const SESSIONS_MAX = 500;
/** The most files that are read to find sessions. */
const FILES_MAX = 2 * SESSIONS_MAX;
const DAYS_MAX_DEFAULT = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
const TITLE_CHARS_MAX = 100;

/**
 * Sessions, each of which becomes a thread. One that was imported is taken again only if it has
 * changed since, as another thread.
 */
export function sessionsImporter(deps: SessionServices): Importer {
  const ledger = new SessionLedger(deps);
  return {
    itemType: 'SESSIONS',
    details: 'sessions',
    async look(scope, asked) {
      const userHome = userHomeOf(deps.env);
      // The sessions of all projects are in the home folder.
      if (userHome === null || (scope.cwd !== null && asked.names.length === 0)) return null;
      const projects = join(userHome, '.claude', 'projects');
      const { found, refused } = await offers(asked, projects, {
        deps,
        records: await ledger.read(),
      });
      return {
        description: `Migrate recent sessions from ${projects}`,
        names: [...found.keys()],
        sessions: [...found.values()].map(({ session }) => session),
        refused,
        async take(names, originator) {
          const outcome: Outcome = { taken: [], refused: [] };
          for (const name of names) {
            const one = found.get(name);
            if (one !== undefined)
              await take({ ...one, projects, originator, ledger }, deps, outcome);
          }
          return outcome;
        },
      };
    },
  };
}

interface Offer {
  name: string;
  file: SessionFile;
  session: ExternalAgentConfigSession;
}

/** The sessions that are asked for and can be taken, by their names. */
async function offers(
  asked: AskedItems,
  projects: string,
  { deps, records }: { deps: SessionServices; records: readonly ImportedSession[] },
): Promise<{ found: Map<string, Offer>; refused: Refused[] }> {
  const { files, refused } = await filesOf(asked, projects, deps.clock.now());
  const countMax =
    asked.names.length > 0
      ? files.length
      : Math.min(asked.sessionsMax ?? SESSIONS_MAX_DEFAULT, SESSIONS_MAX);
  const found = new Map<string, Offer>();
  for (const { name, file } of files) {
    if (found.size === countMax) break;
    const session = await offered(
      { name, file, projects, records, isNamed: asked.names.length > 0 },
      deps,
    );
    if (session !== null && 'message' in session) refused.push(session);
    else if (session !== null) found.set(name, { name, file, session });
  }
  return { found, refused };
}

/** The files of the sessions that are asked for, by the names that the client uses. */
async function filesOf(
  { names, sessionDaysMax }: AskedItems,
  projects: string,
  now: number,
): Promise<{ files: { name: string; file: SessionFile }[]; refused: Refused[] }> {
  const refused: Refused[] = [];
  const files: { name: string; file: SessionFile }[] = [];
  for (const name of new Set(names)) {
    try {
      files.push({ name, file: await sessionFileAt(name, projects) });
    } catch (error) {
      refused.push({ source: name, message: whyRefused(error), failureStage: 'read' });
    }
  }
  if (names.length > 0) return { files, refused };
  const since = now - (sessionDaysMax ?? DAYS_MAX_DEFAULT) * DAY_MS;
  const latest = (await sessionFiles(projects)).filter(({ modifiedAtMs }) => modifiedAtMs >= since);
  return { files: latest.slice(0, FILES_MAX).map((file) => ({ name: file.path, file })), refused };
}

interface Candidate {
  name: string;
  file: SessionFile;
  projects: string;
  records: readonly ImportedSession[];
  /** Whether the client asks for it. */
  isNamed: boolean;
}

/**
 * A session as a client sees it; null: it was imported with this content, or it has no message and
 * the client did not name it.
 */
async function offered(
  { name, file, projects, records, isNamed }: Candidate,
  deps: SessionServices,
): Promise<ExternalAgentConfigSession | Refused | null> {
  try {
    const content = await readSessionFile(file, projects);
    if (await isImported(file, content, { records, deps })) return null;
    const facts = await readSessionFacts(content.bytes, deps.ids, deps.clock.now());
    if (facts.firstText === null)
      return isNamed
        ? { source: name, message: `${name} has no message of the user`, failureStage: 'read' }
        : null;
    const cwd = facts.cwd ?? '';
    if (!isAbsolute(cwd) || !isFolder(cwd))
      return {
        source: name,
        message: `${name}: its folder ${cwd} is not there`,
        failureStage: 'select',
      };
    return { path: name, cwd, title: titleOf(facts) };
  } catch (error) {
    return { source: name, message: whyRefused(error), failureStage: 'read' };
  }
}

async function isImported(
  { path }: SessionFile,
  { sha256 }: SessionBytes,
  { records, deps }: { records: readonly ImportedSession[]; deps: SessionServices },
): Promise<boolean> {
  for (const record of records) {
    if (record.path !== path || record.sha256 !== sha256) continue;
    // Another program may have imported it for itself, or the user has deleted the thread.
    if ((await deps.store.getThread(record.threadId)) !== null) return true;
  }
  return false;
}

interface Taking extends Offer {
  projects: string;
  originator: string | null;
  ledger: SessionLedger;
}

async function take(
  { name, file, session: { cwd }, projects, originator, ledger }: Taking,
  deps: SessionServices,
  outcome: Outcome,
): Promise<void> {
  try {
    const content = await readSessionFile(file, projects);
    if (await isImported(file, content, { records: await ledger.read(), deps })) return;
    const session = await readSession(content.bytes, deps.ids, deps.clock.now()).catch(
      (error: unknown) => {
        throw error instanceof FileRefusedError
          ? new SourceError(`${name} cannot be read: ${error.message}`, { cause: error })
          : error;
      },
    );
    const { id } = await deps.threads.import({ session, cwd, originator });
    const title = titleOf(session);
    const taken: Taken = { source: name, target: id, title, cwd };
    outcome.taken.push(taken);
    if (session.skippedLines > 0) outcome.refused.push(skipped(name, session.skippedLines));
    await ledger.add({
      path: file.path,
      sha256: content.sha256,
      threadId: id,
      importedAtMs: deps.clock.now(),
      modifiedAtMs: file.modifiedAtMs,
      title,
    });
  } catch (error) {
    outcome.refused.push({
      source: name,
      message: whyRefused(error),
      failureStage: error instanceof SourceError ? 'read' : 'write',
    });
  }
}

function skipped(source: string, lines: number): Refused {
  return {
    source,
    message: `${source}: lines that are damaged or too long, and are left out: ${lines}`,
    failureStage: 'read',
  };
}

function titleOf({ name, firstText }: SessionFacts): string {
  return name ?? cutText((firstText ?? '').replace(/\s+/g, ' ').trim(), TITLE_CHARS_MAX);
}
