import { readRegularFile } from '../../config/read-regular-file.ts';
import { createScriptedModel, type ScriptedModel, type ScriptedModelOptions } from './create-scripted-model.ts';
import { ScriptError } from './script-error.ts';

const SCRIPT_BYTES_MAX = 16 * 1024 * 1024;

/** The model of a script's file; `path` is absolute. Throws a ScriptError that names the file and says what is wrong. */
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
  if (file === null) throw problem('there is no such model script');
  if (file.size > SCRIPT_BYTES_MAX) throw problem(`a model script may have ${SCRIPT_BYTES_MAX} bytes, and this one has ${file.size}`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file.bytes);
  } catch (error) {
    if (error instanceof TypeError) throw problem('the model script is not UTF-8');
    throw error;
  }
}
