import { isWithin } from '../../base/paths/is-within.ts';

interface Mount {
  device: string;
  /** The folder of the file system that is mounted. */
  root: string;
  at: string;
}

/**
 * Returns the other paths of the same file or folder, from the kernel's `mountinfo`: a folder above
 * it may be mounted twice.
 */
export function mountAliases(path: string, mountInfo: string): string[] {
  const mounts = mountInfo.split('\n').flatMap(parseMount);
  const own = mounts
    .filter(({ at }) => isWithin(path, at))
    .reduce<Mount | null>(deeperOrLater, null);
  if (own === null) return [];
  const inFileSystem = join(own.root, below(path, own.at));
  const same = mounts.filter(
    (mount) => mount !== own && mount.device === own.device && isWithin(inFileSystem, mount.root),
  );
  const aliases = same.map(({ at, root }) => join(at, below(inFileSystem, root)));
  return [...new Set(aliases)].filter((alias) => alias !== path);
}

function parseMount(line: string): Mount[] {
  const [, , device, root, at] = line.split(' ');
  return device === undefined || root === undefined || at === undefined
    ? []
    : [{ device, root: plainPath(root), at: plainPath(at) }];
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

/** Decodes characters such as spaces, which are written in octal. */
function plainPath(text: string): string {
  return text.includes('\\')
    ? text.replace(/\\([0-7]{3})/g, (_whole, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      )
    : text;
}
