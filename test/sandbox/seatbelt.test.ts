import { describe, expect, test } from 'vitest';
import type { SandboxBounds } from '../../src/policy/permissions/sandbox-bounds.ts';
import { seatbeltProfile } from '../../src/sandbox/macos/seatbelt-profile.ts';

// The tests do not run on a Mac: they check the text, and that its parentheses and quotes are
// balanced.

const BOUNDS: SandboxBounds = {
  readable: 'everything',
  writableRoots: ['/job'],
  workspace: [],
  network: false,
  unixSockets: false,
  unprotected: [],
  home: '/Users/one/.heddle',
};

function rules(bounds: Partial<SandboxBounds> = {}): string[] {
  return seatbeltProfile({ ...BOUNDS, ...bounds }, ['/job/node_modules/heddle']).split('\n');
}

describe('a Seatbelt profile', () => {
  test('denies everything that it does not allow', () => {
    expect(rules().slice(0, 2)).toEqual(['(version 1)', '(deny default)']);
  });

  test('allows writing in writable roots, except protected names at any depth', () => {
    expect(rules()).toContainEqual(
      expect.stringMatching(/^\(allow file-write\* .*\(subpath "\/job"\)\)$/),
    );
    expect(rules()).toContain(
      '(deny file-write* (regex #"^/job/(.*/)?\\.git(/|$)") (regex #"^/job/(.*/)?\\.hg(/|$)") (regex #"^/job/(.*/)?\\.codex(/|$)") (regex #"^/job/(.*/)?\\.agents(/|$)"))',
    );
  });

  test('hides what matches now, and keeps the folders above it from being renamed', () => {
    const places = [
      { path: '/job/sub/deep/a.env', isFolder: false, text: '**/*.env', links: [] },
      { path: '/else/b', isFolder: true, text: '/else/*', links: ['/job/in/link'] },
    ];
    const profile = seatbeltProfile(BOUNDS, [], { places, links: ['/job/conf'] }).split('\n');
    expect(profile).toContain(
      '(deny file-read* file-write* (subpath "/job/sub/deep/a.env") (subpath "/else/b"))',
    );
    expect(profile).toContain(
      '(deny file-write-unlink (literal "/job/sub/deep") (literal "/job/sub") (literal "/job/in") (literal "/job/in/link") (literal "/job/conf"))',
    );
  });

  test('protects the home after every rule that allows more', () => {
    const profile = rules({ writableRoots: ['/Users/one'] });
    const allowed = profile.findIndex((rule) => rule.startsWith('(allow file-write*'));
    expect(profile.indexOf('(deny file-write* (subpath "/Users/one/.heddle"))')).toBeGreaterThan(
      allowed,
    );
    expect(profile.at(-7)).toMatch(
      /^\(deny file-read\* file-write\* \(subpath "\/Users\/one\/\.heddle\/config\.toml"\)/,
    );
    expect(profile.at(-6)).toContain(
      '(deny file-read* file-write* (regex #"^/Users/one/\\.heddle/[^/]*config\\.toml")',
    );
  });

  test('does not show the configuration', () => {
    const shown = rules().filter((rule) => rule.startsWith('(allow file-read*'));
    expect(shown.join()).toContain('"/Users/one/.heddle/rules"');
    expect(shown.join()).not.toContain('config.toml');
  });

  test('allows a writable root in the home', () => {
    expect(rules({ writableRoots: ['/Users/one/.heddle/job'] })).toContain(
      '(allow file-write* (subpath "/Users/one/.heddle/job"))',
    );
  });

  test("protects heddle's own files in a home that is a writable root", () => {
    expect(rules({ writableRoots: ['/Users/one/.heddle'] })).toContainEqual(
      expect.stringMatching(
        /^\(deny file-write\* \(subpath "\/Users\/one\/\.heddle\/AGENTS\.md"\).*config\.toml".*heddle\.db"/,
      ),
    );
  });

  test('denies the files of profiles and the tokens of MCP servers in such a home, whether they exist or not', () => {
    const patterns = rules({ writableRoots: ['/Users/one/.heddle'] }).flatMap((rule) =>
      rule.startsWith('(deny file-read* file-write* (regex')
        ? [...rule.matchAll(/#"(.*?)"/g)].map(([, pattern]) => pattern ?? '')
        : [],
    );
    for (const name of ['work.config.toml', 'heddle-mcp.credentials.json']) {
      expect(
        patterns.some((pattern) => new RegExp(pattern).test(`/Users/one/.heddle/${name}`)),
      ).toBe(true);
    }
  });

  test('shows only the readable roots with restricted reads', () => {
    const profile = rules({ readable: { roots: ['/data'], platformDefaults: false } });
    expect(profile).toContain('(allow file-read* (subpath "/data") (subpath "/job"))');
    expect(profile).not.toContain('(allow file-read*)');
  });

  test('allows the network and unix sockets only if each is granted', () => {
    const network = (bounds: Partial<SandboxBounds>) =>
      rules(bounds).filter((rule) => /network|socket/.test(rule));
    const loopback = '(allow network* (local ip "localhost:*") (remote ip "localhost:*"))';
    expect(network({})).toEqual([loopback, '(deny network* (remote unix-socket))']);
    expect(network({ unixSockets: true })).toEqual([
      loopback,
      '(allow network* (local unix-socket) (remote unix-socket))',
    ]);
    expect(network({ network: true, unixSockets: true })).toEqual([
      '(allow network* system-socket)',
    ]);
    expect(network({ network: true })).toEqual([
      '(allow network* system-socket)',
      '(deny network* (remote unix-socket))',
      '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
    ]);
  });

  test('never reads a path as anything else', () => {
    const profile = rules({ writableRoots: ['/a"b) (allow default) ("\\c.d'] }).join('\n');
    expect(profile).toContain('(subpath "/a\\"b) (allow default) (\\"\\\\c.d")');
    expect(profile.match(/(?<!\\)"/g)?.length).toSatisfy((count: number) => count % 2 === 0);
  });
});
