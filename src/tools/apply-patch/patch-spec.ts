import type { ToolSpec } from '../../model/model.ts';

const GRAMMAR = `start: "*** Begin Patch" LF file+ "*** End Patch" LF?
file: add_file | delete_file | update_file
add_file: "*** Add File: " PATH LF new_line*
delete_file: "*** Delete File: " PATH LF
update_file: "*** Update File: " PATH LF move_to? chunk+
move_to: "*** Move to: " PATH LF
chunk: header line+ end_of_file?
header: "@@" LF | "@@ " TEXT LF
line: kept_line | removed_line | new_line
kept_line: " " TEXT? LF
removed_line: "-" TEXT? LF
new_line: "+" TEXT? LF
end_of_file: "*** End of File" LF
PATH: /[^\\r\\n]+/
TEXT: /[^\\r\\n]+/
%import common.LF
`;

const DESCRIPTION = `Edits files with a patch. The input is the patch itself, with no JSON, quotes or code fence around it:

*** Begin Patch
*** Update File: src/app.py
@@ def greet():
-    print("Hi")
+    print("Hello")
*** Add File: notes.txt
+first line
*** Delete File: old.txt
*** End Patch

Each file has one header. After "Add File", every line starts with "+". After "Update File" come the changes in the order of the file, each after a line "@@". In a change, lines to keep start with a space, lines to remove with "-", and new lines with "+". Include about three lines to keep before and after each change. If these lines occur more than once in the file, put a line that comes earlier in the file after the "@@ ". "*** Move to: NEW PATH" below the header renames the file. "*** End of File" below a change means that the change is at the end of the file. Paths are relative to the working directory. If any part of the patch does not match the files, nothing is written.`;

/** The specification of `apply_patch` for models. */
export const PATCH_SPEC: ToolSpec = {
  type: 'custom',
  name: 'apply_patch',
  description: DESCRIPTION,
  format: { type: 'grammar', syntax: 'lark', definition: GRAMMAR },
};
