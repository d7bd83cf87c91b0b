import { expect, test } from 'vitest';
import { contextWindow } from '../../src/config/providers/context-window.ts';

const sources = { configured: null, isLocal: false, listed: new Map([['listed', 64_000]]) };

test.each([
  ['gpt-5.1-codex', 272_000],
  ['openai/gpt-4.1-mini', 1_047_576],
  ['gpt-4o', 128_000],
  ['o3', 200_000],
  ['o1-mini', 128_000],
  ['o1-preview-2024-09-12', 128_000],
  ['grok-4-fast-reasoning', 2_000_000],
  ['x-ai/grok-4.1-fast', 2_000_000],
  ['grok-4-1-fast-non-reasoning', 2_000_000],
  ['grok-4-0709', 256_000],
  ['anthropic.claude-sonnet-4-20250514-v1:0', 200_000],
  ['us.anthropic.claude-opus-4-1-20250805-v1:0', 200_000],
  ['openai.gpt-oss-120b-1:0', 131_072],
  ['ft:gpt-4o-2024-08-06:company::id', 128_000],
  ['anthropic/claude-sonnet-4', 200_000],
  ['google/gemini-2.5-pro', 1_048_576],
  ['Qwen/Qwen3-Coder-480B-A35B-Instruct', 262_144],
  ['gpt-oss-120b', 131_072],
])('the context window of %s is known', (model, tokens) => {
  expect(contextWindow(model, sources)).toEqual({ tokens, isKnown: true, mayChange: false });
});

test('the configured context window counts before a known one; of other models it is a guess', () => {
  expect(contextWindow('gpt-5', { ...sources, configured: 1_000 })).toEqual({
    tokens: 1_000,
    isKnown: true,
    mayChange: false,
  });
  expect(contextWindow('listed', sources)).toEqual({
    tokens: 64_000,
    isKnown: true,
    mayChange: false,
  });
  expect(contextWindow('no-such-model', sources)).toEqual({
    tokens: 258_400,
    isKnown: false,
    mayChange: false,
  });
});

test("a program on the user's machine may run a known model with a shorter context", () => {
  const local = { ...sources, isLocal: true };
  expect(contextWindow('gpt-oss-120b', local)).toEqual({
    tokens: 258_400,
    isKnown: false,
    mayChange: true,
  });
  expect(contextWindow('listed', local)).toEqual({
    tokens: 64_000,
    isKnown: true,
    mayChange: true,
  });
  expect(contextWindow('listed', { ...local, configured: 1_000 })).toEqual({
    tokens: 1_000,
    isKnown: true,
    mayChange: false,
  });
});
