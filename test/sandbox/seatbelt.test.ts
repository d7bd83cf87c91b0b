import { describe, expect, test } from 'vitest';
import type { SandboxBounds } from '../../src/policy/permissions/sandbox-bounds.ts';
import { seatbeltProfile } from '../../src/sandbox/macos/seatbelt-profile.ts';

// The tests do not run on a Mac: they check the text, and that its parentheses and quotes are balanced.

const BOUNDS: SandboxBounds = {
  readable: 'everything',
  writableRoots: ['/job'],
  workspace: [],
  network: false,
  home: '/Users/one/.heddle',
};

function rules(bounds: Partial<SandboxBounds> = {}): string[] {
  return seatbeltProfile({ ...BOUNDS, ...bounds }).split('\n');
}

describe('a Seatbelt profile', () => {
  test('denies everything that it does not allow', () => {
    expect(rules().slice(0, 2)).toEqual(['(version 1)', '(deny default)']);
  });

  test('allows writing in writable roots, except protected names at any depth', () => {
    expect(rules()).toContainEqual(expect.stringMatching(/^\(allow file-write\* .*\(subpath "\/job"\)\)$/));
    expect(rules()).toContain(
      '(deny file-write* (regex #"^/job/(.*/)?\\.git(/|$)") (regex #"^/job/(.*/)?\\.codex(/|$)") (regex #"^/job/(.*/)?\\.agents(/|$)"))',
    );
  });

  test('protects the home after every rule that allows more', () => {
    const profile = rules({ writableRoots: ['/Users/one'] });
    const allowed = profile.findIndex((rule) => rule.startsWith('(allow file-write*'));
    expect(profile.indexOf('(deny file-write* (subpath "/Users/one/.heddle"))')).toBeGreaterThan(allowed);
    expect(profile.at(-6)).toMatch(/^\(deny file-read\* file-write\* \(subpath "\/Users\/one\/\.heddle\/config\.toml"\)/);
    expect(profile.at(-5)).toContain('(deny file-read* file-write* (regex #"^/Users/one/\\.heddle/[^/]*config\\.toml")');
  });

  test('does not show the configuration', () => {
    const shown = rules().filter((rule) => rule.startsWith('(allow file-read*'));
    expect(shown.join()).toContain('"/Users/one/.heddle/rules"');
    expect(shown.join()).not.toContain('config.toml');
  });

  test('allows a writable root in the home', () => {
    expect(rules({ writableRoots: ['/Users/one/.heddle/job'] })).toContain('(allow file-write* (subpath "/Users/one/.heddle/job"))');
  });

  test("protects heddle's own files in a home that is a writable root", () => {
    expect(rules({ writableRoots: ['/Users/one/.heddle'] })).toContainEqual(
      expect.stringMatching(/^\(deny file-write\* \(subpath "\/Users\/one\/\.heddle\/AGENTS\.md"\).*config\.toml".*heddle\.db"/),
    );
  });

  test('shows only the readable roots with restricted reads', () => {
    const profile = rules({ readable: { roots: ['/data'], platformDefaults: false } });
    expect(profile).toContain('(allow file-read* (subpath "/data") (subpath "/job"))');
    expect(profile).not.toContain('(allow file-read*)');
  });

  test('allows the network only if it is granted', () => {
    expect(rules().at(-2)).toBe('(deny network* (remote unix-socket))');
    expect(rules({ network: true }).at(-2)).toBe('(allow network* system-socket)');
  });

  test('never reads a path as anything else', () => {
    const profile = rules({ writableRoots: ['/a"b) (allow default) ("\\c.d'] }).join('\n');
    expect(profile).toContain('(subpath "/a\\"b) (allow default) (\\"\\\\c.d")');
    expect(profile.match(/(?<!\\)"/g)?.length).toSatisfy((count: number) => count % 2 === 0);
  });
});
