import { arch } from 'node:os';
import type { HostileWorld } from './hostile-world.ts';

/** A call of the model. */
export interface HostileCall {
  name: string;
  tool: 'exec_command' | 'apply_patch' | 'view_image';
  arguments: Record<string, unknown>;
}

/** How long a call waits for a command that blocks on a pipe, or goes on in the background. */
const WAIT_MS = 250;
const EXCHANGE = arch() === 'arm64' ? 276 : 316;

/**
 * Defines `w FILE`, which appends to a file. It does not open a pipe, because it would wait for a
 * reader.
 */
const WRITE = 'w() { [ -p "$1" ] || echo evil >> "$1"; }';

interface Attack {
  name: string;
  weight: number;
  script(world: HostileWorld): string;
}

const ATTACKS: readonly Attack[] = [
  { name: 'write through links', weight: 3, script: throughLinks },
  {
    name: 'remove links',
    weight: 2,
    script: () => 'rm -rf ./* .[a-z]*; rm -rf */* ; rm -rf link0/ link1/secret.txt self/.git',
  },
  {
    name: 'move protected names',
    weight: 2,
    script: () =>
      'for n in .git .codex .agents; do mv -T $n moved$n; mv -T sub/$n sub/moved$n; mkdir -p x; mv -T x $n; done; mv sub sub2; mv a b',
  },
  {
    name: 'make hooks',
    weight: 3,
    script: () =>
      'for d in . sub a/b/c made deep/er temp; do mkdir -p $d/.git/hooks $d/.agents/skills/x; w $d/.git/hooks/pre-commit;' +
      ' chmod +x $d/.git/hooks/pre-commit; w $d/.git/config; w $d/.codex; w $d/.agents/skills/x/SKILL.md; done',
  },
  { name: 'write settings', weight: 2, script: writeSettings },
  { name: 'complete a bare repository', weight: 1, script: bareParts },
  { name: 'leave pipes', weight: 3, script: leavePipes },
  { name: 'exchange a folder and a link', weight: 1.5, script: exchange },
  { name: 'replace a root by a link', weight: 2, script: replaceRoot },
  { name: 'reach sockets', weight: 1, script: reachSockets },
  {
    name: 'link to files outside',
    weight: 1,
    script: ({ outside }) => `ln ${outside}/secret.txt hard2; w hard2; w hard; ln -s ${outside} l`,
  },
  {
    name: 'set-user-id',
    weight: 1,
    script: setUserId,
  },
  {
    name: 'write to the home',
    weight: 1,
    script: ({ home }) =>
      `w ${home}/config.toml; mkdir -p ${home}/rules ${home}/x; w home/AGENTS.md; rm -rf ${home}/skills`,
  },
  {
    name: 'git',
    weight: 0.5,
    script: () =>
      'timeout 2 git init -q . </dev/null; timeout 2 git init -q sub; timeout 2 git -C sub config core.fsmonitor ./x; timeout 2 git status',
  },
  {
    name: 'mount points',
    weight: 0.5,
    script: () =>
      'mkdir -p proc dev sys tmp; mount -t tmpfs x tmp; mount --bind ../outside tmp; touch proc/x; umount -l .git; mount -o remount,rw /',
  },
  {
    name: 'many repositories',
    weight: 0.5,
    script: () =>
      'for i in $(seq 60); do mkdir -p m/$i/.git/hooks m/$i/.agents; done; mkdir -p $(printf "d/%.0s" $(seq 200)).git',
  },
];

/** Chooses a call. Relative paths in it are in the workspace. */
export function hostileCall(world: HostileWorld): HostileCall {
  const { random } = world;
  if (random.chance(0.1)) return patch(world);
  if (random.chance(0.05))
    return {
      name: 'view an image',
      tool: 'view_image',
      arguments: { path: random.pick(['AGENTS.md', 'a.png', '.git/config', 'link0']) },
    };
  const { name, script } = random.weighted(ATTACKS);
  const place = random.chance(0.15)
    ? { workdir: random.pick(['sub', 'build', 'link0', '.git', '..', 'self']) }
    : {};
  const cmd = `exec 2>/dev/null </dev/null; ${WRITE}; ${script(world)}; true`;
  return {
    name,
    tool: 'exec_command',
    arguments: { cmd, yield_time_ms: WAIT_MS, login: false, ...place },
  };
}

function throughLinks({ random }: HostileWorld): string {
  const write = 'w "$l"';
  const inside =
    'mkdir -p "$l/evil"; touch "$l/evil.txt"; rm -rf "$l/inner" "$l/secret.txt"; mv -T "$l/folder" "$l/moved"; chmod 777 "$l/run.sh"';
  return `find . ${random.pick(['../temp', 'sub', '.git'])} -maxdepth 3 -type l | head -n 12 | while IFS= read -r l; do ${write}; ${inside}; done`;
}

function writeSettings(): string {
  const files =
    '.git/config .git/HEAD .git/commondir .git/config.worktree .git/hooks/pre-commit .codex/config.toml .agents/skills/x/SKILL.md .hg/hgrc';
  const linked =
    'shared/config shared/hooks/pre-commit missing/config missing/hooks/post-checkout conf/included.gitconfig made-later/git/config real-git/config';
  const others =
    'sub/.git/config sub/.hg/hgrc ../temp/hooks/x ../temp/git/config ../temp/x/.git/config';
  return `for f in ${files} ${linked} ${others}; do mkdir -p "\${f%/*}"; w $f; rm -f $f; w $f.new && mv -f $f.new $f; done`;
}

function bareParts(): string {
  return (
    "for d in . sub sub/bare.git new; do mkdir -p $d/objects $d/refs; echo 'ref: refs/heads/main' > $d/HEAD.new; mv -fT $d/HEAD.new $d/HEAD;" +
    " printf '[core]\\n\\tfsmonitor = ./evil\\n' > $d/config.new; mv -fT $d/config.new $d/config; done"
  );
}

/** Pipes and devices where the server reads next. */
function leavePipes({ temp, random }: HostileWorld): string {
  const make = random.pick([
    'mkfifo $f',
    'ln -s /dev/zero $f',
    'truncate -s 600M $f',
    'ln -s $f $f',
  ]);
  const names =
    'sub/.git/commondir sub/.git/HEAD AGENTS.md AGENTS.override.md .agents/skills/x/SKILL.md made/.git sub/AGENTS.md';
  return `for f in ${names} ${temp}/x/.git/commondir ${temp}/y/.git ${temp}/.git ${temp}/z/.git/config; do mkdir -p "\${f%/*}"; ${make}; done`;
}

/**
 * A command that exchanges a folder and a link in the background, for two seconds or until it is
 * killed.
 */
function exchange({ outside, random }: HostileWorld): string {
  const name = random.pick(['sub', 'a', 'build', 'sub/build', 'flip']);
  const code = `until (time > $^T + 2) { syscall(${EXCHANGE}, -100, $ARGV[0], -100, $ARGV[1], 2); select(undef, undef, undef, rand(0.004)) }`;
  return `mkdir -p ${name}/.git/hooks ${name}/inner; ln -s ${outside} flipped; perl -e '${code}' ${name} flipped`;
}

/** Also closes the workspace itself. */
function setUserId(world: HostileWorld): string {
  world.blame(world.work);
  return 'cp /bin/true s; chmod 4755 s; chmod 6777 . sub; install -m 4755 /bin/true t; chmod 000 .';
}

function replaceRoot({ outside, roots, work }: HostileWorld): string {
  const names = [
    ...roots.filter((root) => root.startsWith(`${work}/`)),
    'build',
    'sub',
    'made-later',
  ];
  return names
    .map(
      (name) =>
        `rm -rf '${name}' || mv -T '${name}' '${name}.old'; ln -sT ${outside} '${name}'; touch '${name}/evil'`,
    )
    .join('; ');
}

/**
 * The kernel takes a raw Unix socket as a datagram socket, also one of a pair that was
 * disconnected.
 */
function reachSockets({ outside }: HostileWorld): string {
  const code = `use Socket; for my $type (SOCK_DGRAM, SOCK_RAW, SOCK_STREAM, SOCK_SEQPACKET) {
  for my $path ("$ARGV[0]/datagram.sock", "$ARGV[0]/stream.sock") {
    my $to = sockaddr_un($path);
    if (socket(my $one, AF_UNIX, $type, 0)) { send($one, "evil in $ARGV[0]", 0, $to); connect($one, $to) and send($one, "evil in $ARGV[0]", 0) }
    if (socketpair(my $left, my $right, AF_UNIX, $type, PF_UNSPEC)) {
      connect($left, pack("S", 0) . "\\0" x 14); bind($left, sockaddr_un("evil.sock")); send($left, "evil in $ARGV[0]", 0, $to);
      connect($left, $to) and send($left, "evil in $ARGV[0]", 0);
    }
  }
}`;
  return `perl -e '${code}' ${outside}`;
}

function patch({ random, outside, layouts }: HostileWorld): HostileCall {
  const picked = random.pick([
    'link0/evil',
    'patched',
    '.git/config',
    '.agents/skills/x/SKILL.md',
    'build/evil',
    '../outside/evil',
    `${outside}/secret.txt`,
    'home/rules/x',
    'AGENTS.md',
  ]);
  const path = layouts.includes('hard links') && !picked.includes('outside') ? 'patched' : picked;
  const change = random.chance(0.7)
    ? `*** Add File: ${path}\n+evil`
    : `*** Update File: ${path}\n@@\n-canary config\n+evil`;
  return {
    name: 'patch',
    tool: 'apply_patch',
    arguments: { input: `*** Begin Patch\n${change}\n*** End Patch` },
  };
}
