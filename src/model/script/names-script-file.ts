/** Whether a string that should be a script, or a model, looks like the path of a script. */
export function namesScriptFile(text: string): boolean {
  return /^[^\n]+\.(?:ya?ml|json)$/i.test(text.trim());
}
