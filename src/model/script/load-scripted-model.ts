import { readRegularFile } from '../../config/read-regular-file.ts';
import { createScriptedModel, type ScriptedModel, type ScriptedModelOptions } from './create-scripted-model.ts';
import { ScriptError } from './script-error.ts';

const SCRIPT_BYTES_MAX = 16 * 1024 * 1024;

/** Loads a script from a file and creates its model; `path` is absolute. Throws a ScriptError with the file and its problems. */
export function loadScriptedModel(path: string, options: Omit<ScriptedModelOptions, 'file'>): ScriptedModel {
  return createScriptedModel(readText(path), { ...options, file: path });
}

function readText(path: string): string {
  const problem = (text: string) => new ScriptError([{ text, place: null }], path);
  let file: ReturnType<typeof readRegularFile>;
  try {
    file = readRegularFile(path, SCRIPT_BYTES_MAX);
  } catch (error) {
    throw problem(`the model script cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (file === null) throw problem('the model script does not exist');
  if (file.size > SCRIPT_BYTES_MAX) throw problem(`the model script has ${file.size} bytes; at most ${SCRIPT_BYTES_MAX} are allowed`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file.bytes);
  } catch (error) {
    if (error instanceof TypeError) throw problem('the model script is not valid UTF-8');
    throw error;
  }
}
