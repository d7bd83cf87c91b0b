import type { ToolSpec } from '../../model/model.ts';

const GRAMMAR = `start: "*** Begin Patch" LF file+ "*** End Patch" LF?
file: added | deleted | updated
added: "*** Add File: " PATH LF put*
deleted: "*** Delete File: " PATH LF
updated: "*** Update File: " PATH LF renamed? chunk+
renamed: "*** Move to: " PATH LF
chunk: place line+ last?
place: "@@" LF | "@@ " TEXT LF
line: kept | taken | put
kept: " " TEXT? LF
taken: "-" TEXT? LF
put: "+" TEXT? LF
last: "*** End of File" LF
PATH: /[^\\r\\n]+/
TEXT: /[^\\r\\n]+/
%import common.LF
`;

const DESCRIPTION = `Changes files by a patch. Give the patch itself, without JSON, quotes or a code fence:

*** Begin Patch
*** Update File: src/app.py
@@ def greet():
-    print("Hi")
+    print("Hello")
*** Add File: notes.txt
+first line
*** Delete File: old.txt
*** End Patch

Each file has one header. Below "Add File" every line begins with "+". Below "Update File" come changes, in the order of the file, each behind "@@": lines that stay begin with a blank, those to take away with "-", new ones with "+". Give about three lines that stay on each side; where they are not unique, name a line in front of them behind "@@ ". "*** Move to: NEW PATH" below the header renames the file, and "*** End of File" says that a change is at its end. Paths are relative to the working folder. All of the patch has to fit the files as they are, else nothing is written.`;

/** How models are told of `apply_patch`. */
export const PATCH_SPEC: ToolSpec = {
  type: 'custom',
  name: 'apply_patch',
  description: DESCRIPTION,
  format: { type: 'grammar', syntax: 'lark', definition: GRAMMAR },
};
