// The script of a worker that edits the text of config.toml.
import { serveWorker } from '../../base/worker/serve-worker.ts';
import { editToml } from './edit-toml.ts';

const SERVED = { editToml };

export type TomlEditor = typeof SERVED;

serveWorker(() => SERVED);
