import { FileTooLargeError } from '../../base/files/open-regular-file.ts';
import { type FileContent, readRegularFileSync } from '../../base/files/read-regular-file.ts';
import {
  createScriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
} from './create-scripted-model.ts';
import { ScriptError } from './script-error.ts';

const SCRIPT_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Loads a script from a file and creates its model; `path` is absolute. Throws a ScriptError with
 * the file and its problems.
 */
export function loadScriptedModel(
  path: string,
  options: Omit<ScriptedModelOptions, 'file'>,
): ScriptedModel {
  return createScriptedModel(readText(path), { ...options, file: path });
}

function readText(path: string): string {
  const problem = (text: string) => new ScriptError([{ text, place: null }], path);
  let file: FileContent | null;
  try {
    file = readRegularFileSync(path, { bytesMax: SCRIPT_BYTES_MAX });
  } catch (error) {
    if (error instanceof FileTooLargeError) {
      throw problem(
        `the model script has ${error.size} bytes; at most ${SCRIPT_BYTES_MAX} are allowed`,
      );
    }
    throw problem(
      `the model script cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (file === null) throw problem('the model script does not exist');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file.bytes);
  } catch (error) {
    if (error instanceof TypeError) throw problem('the model script is not valid UTF-8');
    throw error;
  }
}
