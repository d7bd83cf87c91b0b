import { describe, expect, test } from 'vitest';
import { isReadable, isWritable } from '../../src/policy/permissions/is-writable.ts';

const HOME = '/home/me/.heddle';

describe('readable paths', () => {
  test('everything except the home', () => {
    const bounds = {
      readable: 'everything' as const,
      writableRoots: ['/ws'],
      workspace: [],
      home: HOME,
    };
    expect(isReadable('/etc/hosts', bounds)).toBe(true);
    expect(isReadable(`${HOME}/auth.json`, bounds)).toBe(false);
    expect(isReadable(`${HOME}/auth.json`, { ...bounds, writableRoots: ['/home/me'] })).toBe(false);
    expect(
      isReadable(`${HOME}/config.toml`, { ...bounds, workspace: [HOME], writableRoots: [HOME] }),
    ).toBe(false);
    expect(isReadable(`${HOME}/.config.toml.swp`, { ...bounds, writableRoots: [HOME] })).toBe(
      false,
    );
    expect(isReadable(`${HOME}/notes`, { ...bounds, writableRoots: [HOME] })).toBe(true);
    expect(isReadable(`${HOME}/job/a`, { ...bounds, writableRoots: [`${HOME}/job`] })).toBe(true);
  });

  test('the roots of a restricted sandbox, and the writable roots', () => {
    const bounds = {
      readable: { roots: ['/ws', '/lib/x'], platformDefaults: true },
      writableRoots: ['/tmp'],
      workspace: [],
      home: HOME,
    };
    expect(isReadable('/ws/a', bounds)).toBe(true);
    expect(isReadable('/lib/x', bounds)).toBe(true);
    expect(isReadable('/tmp/a', bounds)).toBe(true);
    expect(isReadable('/lib/y', bounds)).toBe(false);
    expect(isReadable('/etc/hosts', bounds)).toBe(false);
    expect(isReadable(`${HOME}/auth.json`, { ...bounds, writableRoots: ['/'] })).toBe(false);
  });
});

test('the target of a linked secret of the home is neither readable nor writable', () => {
  const bounds = {
    readable: 'everything' as const,
    writableRoots: ['/ws'],
    workspace: ['/ws'],
    home: HOME,
    linkedSecrets: ['/ws/dotfiles/c'],
  };
  expect([isReadable('/ws/dotfiles/c', bounds), isWritable('/ws/dotfiles/c', bounds)]).toEqual([
    false,
    false,
  ]);
  expect([isReadable('/ws/dotfiles/cd', bounds), isWritable('/ws/dotfiles/cd', bounds)]).toEqual([
    true,
    true,
  ]);
});

test('no copy of a secret file in the home is writable, even if the home is a writable root', () => {
  const bounds = { writableRoots: [HOME], workspace: [], home: HOME };
  expect(isWritable(`${HOME}/config.toml`, bounds)).toBe(false);
  expect(isWritable(`${HOME}/config.toml~`, bounds)).toBe(false);
  expect(isWritable(`${HOME}/notes`, bounds)).toBe(true);
});

test('a writable root inside a protected folder is writable', () => {
  const bounds = { writableRoots: ['/ws', '/ws/.codex/job'], workspace: [], home: HOME };
  expect(isWritable('/ws/.codex/job/a', bounds)).toBe(true);
  expect(isWritable('/ws/.codex/a', bounds)).toBe(false);
  expect(isWritable('/ws/.codex/job/.git/a', bounds)).toBe(false);
});
