import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NetworkRule } from '../../src/policy/network/network-rule.ts';
import { commandRules, parseRules } from '../../src/policy/rules/parse-rules.ts';
import { networkRuleLine } from '../../src/policy/rules/read-network-rule.ts';

const HOST =
  'network_rule: host must be a host name or an IP address, without a port and without wildcards';
const rules = async (text: string) => (await parseRules(text, 'a.rules')).rules;
const problems = async (text: string) => (await parseRules(text, 'a.rules')).problems;

test('a rule is a command prefix and a decision', async () => {
  expect(
    await parseRules('prefix_rule(pattern=["touch", "x.txt"], decision="allow")\n', 'a.rules'),
  ).toEqual({
    rules: [{ pattern: [['touch'], ['x.txt']], decision: 'allow', justification: null }],
    networkRules: [],
    problems: [],
  });
});

test('a rule may have several lines, comments, trailing commas, alternatives, examples', async () => {
  const text = `# ours
prefix_rule(
  pattern = [ "git", ["status", 'log'], ],  # reads
  decision = "prompt",
  justification = "say \\"please\\", it's \\u00e9",
  match = ["git status -s", ["git", "log"]],
  not_match = ["git push",],
)

prefix_rule(pattern=["rm"], decision="forbidden") prefix_rule(pattern=["ls"])`;
  expect(await parseRules(text, 'a.rules')).toEqual({
    rules: [
      {
        pattern: [['git'], ['status', 'log']],
        decision: 'prompt',
        justification: 'say "please", it\'s é',
      },
      { pattern: [['rm']], decision: 'forbidden', justification: null },
      { pattern: [['ls']], decision: 'allow', justification: null },
    ],
    networkRules: [],
    problems: [],
  });
});

test('rules about hosts are read, and those about executables are ignored', async () => {
  const text =
    'network_rule(host = "A.example.", protocol = "https", decision = "allow")\nhost_executable(name="git", paths=["/usr/bin/git"])\n' +
    'network_rule(host="0x7f.1", protocol="socks5_tcp", decision="forbidden", justification="mine")';
  expect(await parseRules(text, 'a.rules')).toEqual({
    rules: [],
    networkRules: [
      { host: 'a.example', protocol: 'https', decision: 'allow', justification: null },
      { host: '127.0.0.1', protocol: 'socks5_tcp', decision: 'deny', justification: 'mine' },
    ],
    problems: [],
  });
});

test('the line of a rule about a host is read as that rule', async () => {
  const rule: NetworkRule = {
    host: 'a.example',
    protocol: 'https',
    decision: 'deny',
    justification: 'say "no"',
  };
  expect((await parseRules(networkRuleLine(rule), 'a.rules')).networkRules).toEqual([rule]);
  const plain: NetworkRule = { ...rule, decision: 'allow', justification: null };
  expect((await parseRules(networkRuleLine(plain), 'a.rules')).networkRules).toEqual([plain]);
});

test('an empty file has no rules', async () => {
  expect(await parseRules('', 'a.rules')).toEqual({ rules: [], networkRules: [], problems: [] });
  expect(await parseRules(' \r\n# only this', 'a.rules')).toEqual({
    rules: [],
    networkRules: [],
    problems: [],
  });
});

describe('an invalid rule is a problem with its line', () => {
  test.each([
    ['prefix_rule(pattern=["a"]', 'expected a comma or ), found the end of the file'],
    ['prefix_rule(pattern=["a)', 'expected a string or a list, found "\\"a)"'],
    ['prefix_rule(pattern=["a" "b"])', 'expected a comma or ], found "\\"b\\"])"'],
    ['prefix_rule(pattern=[])', 'pattern must be a non-empty list of words'],
    ['prefix_rule(pattern="a")', 'pattern must be a non-empty list of words'],
    [
      'prefix_rule(pattern=[[]])',
      'pattern: each word must be a non-empty string, or a non-empty list of them',
    ],
    [
      'prefix_rule(pattern=[""])',
      'pattern: each word must be a non-empty string, or a non-empty list of them',
    ],
    [
      'prefix_rule(pattern=[[["a"]]])',
      'pattern: each word must be a non-empty string, or a non-empty list of them',
    ],
    ['prefix_rule(decision="allow")', 'pattern must be a non-empty list of words'],
    [
      'prefix_rule(pattern=["a"], decision="deny")',
      'decision must be "allow", "prompt" or "forbidden"',
    ],
    [
      'prefix_rule(pattern=["a"], decision=["allow"])',
      'decision must be "allow", "prompt" or "forbidden"',
    ],
    ['prefix_rule(pattern=["a"], justification=["b"])', 'justification must be a string'],
    [
      'prefix_rule(pattern=["a"], because="b")',
      'prefix_rule has no argument because: its arguments are pattern, decision, justification, match, not_match',
    ],
    ['prefix_rule(pattern=["a"], pattern=["b"])', 'pattern is given twice'],
    ['prefix_rule(["a"])', 'expected the name of an argument, found "[\\"a\\"])"'],
    ['prefix_rule(pattern=["\\q"])', '\\q is not a valid escape in a string'],
    ['prefix_rule(pattern=["a"], match=["b"])', 'match: the pattern does not match ["b"]'],
    ['prefix_rule(pattern=["a"], not_match=["a b"])', 'not_match: the pattern matches ["a","b"]'],
    ['prefix_rule(pattern=["a"], match="a")', 'match must be a list of commands'],
    [
      'suffix_rule(pattern=["a"])',
      'unknown rule suffix_rule: the rules are prefix_rule and network_rule',
    ],
    ['network_rule(host="*.a", protocol="https", decision="allow")', HOST],
    ['network_rule(host="a:443", protocol="https", decision="allow")', HOST],
    [
      'network_rule(host=["a"], protocol="https", decision="allow")',
      'network_rule: host must be a string',
    ],
    [
      'network_rule(host="a", protocol="tcp", decision="allow")',
      'network_rule: protocol must be one of http, https, socks5_tcp, socks5_udp',
    ],
    [
      'network_rule(host="a", protocol="http", decision="ask")',
      'network_rule: decision must be "allow", "prompt" or "deny"',
    ],
    ['network_rule(host="a", port="1")', 'network_rule has no argument port'],
    ['x = 1', 'expected (, found "="'],
    ['"text"', 'expected a rule, found "\\"text\\""'],
    [
      'prefix_rule(pattern=[["a", ["b"]]])',
      'pattern: each word must be a non-empty string, or a non-empty list of them',
    ],
    [`prefix_rule(pattern=${'['.repeat(100)})`, 'lists are nested too deeply'],
  ])('%s', async (text, message) => {
    expect(await problems(`\n# x\n${text}`)).toEqual([{ message, path: 'a.rules', line: 3 }]);
  });

  test('and the rules around it stay in effect', async () => {
    const text =
      'prefix_rule(pattern=["a"])\nprefix_rule(pattern=["b"], oops)\nprefix_rule(pattern=["c"], decision="forbidden")\n';
    expect((await rules(text)).map(({ pattern }) => pattern)).toEqual([[['a']], [['c']]]);
    expect(await problems(text)).toEqual([
      { message: 'expected =, found ")"', path: 'a.rules', line: 2 },
    ]);
  });

  test('every text is read to its end', async () => {
    const piece = fc.constantFrom(
      'prefix_rule',
      '(',
      ')',
      '[',
      ']',
      ',',
      '=',
      '"a"',
      "'b'",
      'pattern',
      'decision',
      '"allow"',
      '\n',
      ' ',
      '#',
      '\\',
      '"',
      'é',
      '\0',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
        const parsed = await parseRules(pieces.join(''), 'a.rules');
        expect(parsed.rules.length + parsed.problems.length).toBeLessThanOrEqual(pieces.length);
      }),
    );
  });
});

test('the rules of several files are one list, and an unreadable file is a problem of the whole file', async () => {
  const files = [
    { path: 'a.rules', text: 'prefix_rule(pattern=["a"])' },
    { path: 'b.rules', text: 'oops\nprefix_rule(pattern=["b"])' },
  ];
  expect(
    await commandRules({
      files,
      accepted: null,
      problems: [{ path: 'c.rules', message: 'no access' }],
    }),
  ).toEqual({
    rules: [
      { pattern: [['a']], decision: 'allow', justification: null },
      { pattern: [['b']], decision: 'allow', justification: null },
    ],
    networkRules: [],
    problems: [
      { path: 'c.rules', message: 'no access', line: null },
      { path: 'b.rules', message: 'expected (, found "prefix_rule(pattern="', line: 1 },
    ],
  });
});
