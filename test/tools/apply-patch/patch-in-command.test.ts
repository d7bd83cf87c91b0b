import { expect, test } from 'vitest';
import { patchInCommand } from '../../../src/tools/apply-patch/patch-in-command.ts';

const BODY = '*** Begin Patch\n*** Add File: n\n+$HOME `x` \\n\n*** End Patch';

test.each([
  [`apply_patch <<EOF\n${BODY}\nEOF`, null],
  [`apply_patch <<'EOF'\n${BODY}\nEOF\n`, null],
  [`apply_patch <<"EOF"\n${BODY}\nEOF`, null],
  [`applypatch << PATCH\n${BODY}\nPATCH`, null],
  [`\n  cd sub/dir && apply_patch <<'EOF'\n${BODY}\nEOF\n\n`, 'sub/dir'],
  [`cd 'a b' && apply_patch <<'EOF'\n${BODY}\nEOF`, 'a b'],
  [`cd "a b" && apply_patch <<'EOF'\n${BODY}\nEOF`, 'a b'],
])('%s', (script, folder) => {
  expect(patchInCommand(script)).toEqual({ patch: BODY, folder });
});

test.each([
  ['a command before it', `ls; apply_patch <<EOF\n${BODY}\nEOF`],
  ['a command after it', `apply_patch <<EOF\n${BODY}\nEOF\nls`],
  ['a command on the line of the heredoc', `apply_patch <<EOF && ls\n${BODY}\nEOF`],
  ['another way to go on', `cd x; apply_patch <<EOF\n${BODY}\nEOF`],
  ['two folders', `cd x && cd y && apply_patch <<EOF\n${BODY}\nEOF`],
  ['a folder that the shell would expand', `cd ~/x && apply_patch <<EOF\n${BODY}\nEOF`],
  ['a folder with a variable in quotes', `cd "a $b" && apply_patch <<'EOF'\n${BODY}\nEOF`],
  ['a folder by a variable', `cd $X && apply_patch <<EOF\n${BODY}\nEOF`],
  ['a folder with a command in it', `cd $(pwd) && apply_patch <<EOF\n${BODY}\nEOF`],
  ['a heredoc without its end', `apply_patch <<EOF\n${BODY}`],
  ['another end', `apply_patch <<EOF\n${BODY}\nEND`],
  ['an end that comes twice', `apply_patch <<EOF\n${BODY}\nEOF\nEOF`],
  ['a heredoc whose tabs are taken away', `apply_patch <<-EOF\n${BODY}\nEOF`],
  ['quotes that do not match', `apply_patch <<'EOF"\n${BODY}\nEOF`],
  ['an argument', `apply_patch '${BODY}'`],
  ['a pipe', `echo x | apply_patch <<EOF\n${BODY}\nEOF`],
  ['another program of that name', `./apply_patch <<EOF\n${BODY}\nEOF`],
  ['nothing', ''],
])('with %s it is an ordinary command', (_name, script) => {
  expect(patchInCommand(script)).toBeNull();
});
