import { isWithin } from '../../base/is-within.ts';

interface Mount {
  device: string;
  /** Which of the file system's folders is mounted. */
  root: string;
  at: string;
}

/** The other paths that a path can be reached by, as the kernel's `mountinfo` has it: what it lies in may be mounted twice. */
export function mountAliases(path: string, mountInfo: string): string[] {
  const mounts = mountInfo.split('\n').flatMap(parseMount);
  const own = mounts.filter(({ at }) => isWithin(path, at)).reduce<Mount | null>(deeperOrLater, null);
  if (own === null) return [];
  const inFileSystem = join(own.root, below(path, own.at));
  const same = mounts.filter((mount) => mount !== own && mount.device === own.device && isWithin(inFileSystem, mount.root));
  const aliases = same.map(({ at, root }) => join(at, below(inFileSystem, root)));
  return [...new Set(aliases)].filter((alias) => alias !== path);
}

function parseMount(line: string): Mount[] {
  const [, , device, root, at] = line.split(' ');
  return device === undefined || root === undefined || at === undefined ? [] : [{ device, root: plainPath(root), at: plainPath(at) }];
}

function deeperOrLater(best: Mount | null, mount: Mount): Mount {
  return best === null || mount.at.length >= best.at.length ? mount : best;
}

function below(path: string, folder: string): string {
  return folder === '/' ? path : path.slice(folder.length);
}

function join(folder: string, rest: string): string {
  if (rest === '' || rest === '/') return folder;
  return folder === '/' ? rest : `${folder}${rest}`;
}

/** Blanks and the like are written in octal. */
function plainPath(text: string): string {
  return text.includes('\\')
    ? text.replace(/\\([0-7]{3})/g, (_whole, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
    : text;
}
