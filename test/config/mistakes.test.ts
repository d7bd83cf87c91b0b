import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configWarnings } from '../../src/config/problems/config-warnings.ts';
import { policyReads } from '../../src/policy/policy-reads.ts';
import { sourcesIn } from './load.ts';
import { tempFolder } from './temp-folder.ts';

const PROVIDER = 'model_provider = "p"\n[model_providers.p]\nbase_url = "https://p.example"\n';

/**
 * A kind of mistake: the file, the line that the message names, the key, and what the message says
 * is allowed.
 */
const MISTAKES: readonly [
  kind: string,
  text: string,
  line: number,
  key: string,
  allowed: RegExp,
][] = [
  ['text that is not TOML', '\nmodel = [broken', 2, 'not valid TOML', /invalid value/],
  [
    'a key that is set twice',
    'model = "a"\nmodel = "b"\n',
    2,
    'not valid TOML',
    /redefine|duplicate|twice|already/i,
  ],
  [
    'a table that is there twice',
    '[features]\n[features]\n',
    2,
    'not valid TOML',
    /redefine|duplicate|twice|already/i,
  ],
  ['a string without quotes', 'model = gpt-5.5\n', 1, 'not valid TOML', /./],
  ['a number for a name', 'model = 5\n', 1, 'model', /expected a non-empty string, found 5/],
  [
    'an empty name',
    'model_reasoning_effort = " "\n',
    1,
    'model_reasoning_effort',
    /expected a non-empty string, found " "/,
  ],
  [
    'an unknown provider',
    'model_provider = "nope"\n',
    1,
    'nope',
    /Built in: openai, ollama, lmstudio, embedded/,
  ],
  [
    'an unknown word',
    'model_verbosity = "loud"\n',
    1,
    'model_verbosity',
    /expected one of "low", "medium", "high", found "loud"/,
  ],
  [
    'an unknown summary',
    'model_reasoning_summary = "x"\n',
    1,
    'model_reasoning_summary',
    /expected one of "auto", "concise", "detailed", "none"/,
  ],
  [
    'an unknown personality',
    'personality = "rude"\n',
    1,
    'personality',
    /expected one of "none", "friendly", "pragmatic"/,
  ],
  [
    'a word for a number',
    'model_context_window = "big"\n',
    1,
    'model_context_window',
    /expected a whole number, 1 or more, found "big"/,
  ],
  [
    'a number that is too small',
    'project_doc_max_bytes = -1\n',
    1,
    'project_doc_max_bytes',
    /expected a whole number, 0 or more, found -1/,
  ],
  [
    'a part of a number',
    'tool_output_token_limit = 1.5\n',
    1,
    'tool_output_token_limit',
    /expected a whole number, 1 or more, found 1.5/,
  ],
  [
    'an unknown approval policy',
    'approval_policy = "always"\n',
    1,
    'approval_policy',
    /expected "untrusted", "on-failure", "on-request", "never", or .*request_permissions, skill_approval/,
  ],
  [
    'a part of a granular policy',
    'approval_policy = { granular = { rules = true } }\n',
    1,
    'approval_policy',
    /\{granular = \{sandbox_approval, rules/,
  ],
  [
    'an unknown reviewer',
    'approvals_reviewer = "me"\n',
    1,
    'approvals_reviewer',
    /expected one of "user", "auto_review", "guardian_subagent"/,
  ],
  [
    'an unknown sandbox',
    'sandbox_mode = "readonly"\n',
    1,
    'sandbox_mode',
    /expected one of "read-only", "workspace-write", "danger-full-access"/,
  ],
  [
    'a value for a table',
    'sandbox_workspace_write = true\n',
    1,
    'sandbox_workspace_write',
    /expected a table, found true/,
  ],
  [
    'a relative path',
    '[sandbox_workspace_write]\nwritable_roots = ["x"]\n',
    2,
    'writable_roots',
    /expected a list of absolute paths, found a list/,
  ],
  [
    'a word for true or false',
    '[sandbox_workspace_write]\nnetwork_access = "yes"\n',
    2,
    'network_access',
    /expected true or false, found "yes"/,
  ],
  [
    'an older form of a setting',
    'web_search = true\n',
    1,
    'web_search',
    /expected one of "disabled", "cached", "indexed", "live", found true/,
  ],
  [
    'a word for a list',
    'notify = "beep"\n',
    1,
    'notify',
    /expected a list of strings: a program and its arguments, found "beep"/,
  ],
  [
    'a number for a variable',
    '[shell_environment_policy]\nset = { A = 1 }\n',
    2,
    'set',
    /expected a table of variable names and string values/,
  ],
  [
    'an unknown inheritance',
    '[shell_environment_policy]\ninherit = "some"\n',
    2,
    'inherit',
    /expected one of "all", "core", "none", found "some"/,
  ],
  [
    'a URL of another kind',
    'openai_base_url = "ftp://x"\n',
    1,
    'openai_base_url',
    /expected an http or https URL, found a string/,
  ],
  [
    'a provider without a URL',
    'model_provider = "p"\n[model_providers.p]\nname = "P"\n',
    2,
    'model_providers.p',
    /base_url is missing: expected the http or https URL/,
  ],
  [
    'an unknown API',
    `${PROVIDER}wire_api = "grpc"\n`,
    4,
    'wire_api',
    /expected "responses", "chat", "scripted" or "embedded", found "grpc"/,
  ],
  [
    'a key in place of its variable',
    `${PROVIDER}env_key = "sk-1 2"\n`,
    4,
    'env_key',
    /expected the name of an environment variable, not the key itself/,
  ],
  [
    'a list of headers',
    `${PROVIDER}http_headers = ["a"]\n`,
    4,
    'http_headers',
    /expected a table of header names and single-line string values/,
  ],
  [
    'a profile that does not exist',
    'profile = "nope"\n',
    1,
    'profile',
    /there is no table \[profiles\.nope\], and no file nope\.config\.toml/,
  ],
  [
    'a mistake in the profile',
    'profile = "p"\n[profiles.p]\nsandbox_mode = "rw"\n',
    3,
    'sandbox_mode',
    /expected one of "read-only"/,
  ],
  [
    'an unknown trust level',
    '[projects."/a"]\ntrust_level = "yes"\n',
    2,
    'trust_level',
    /expected one of "trusted", "untrusted", found "yes"/,
  ],
  [
    'a relative project',
    '[projects."a/b"]\ntrust_level = "trusted"\n',
    1,
    'projects.a/b',
    /expected the absolute path of a folder/,
  ],
  [
    'a word for a feature',
    '[features]\ngoals = "off"\n',
    2,
    'features.goals',
    /expected true or false, found "off"/,
  ],
  ['an unknown feature', '[features]\ngoal = true\n', 2, 'features.goal', /Did you mean goals\?/],
  [
    'a misspelt key',
    'sandbox-mode = "read-only"\n',
    1,
    'sandbox-mode',
    /Did you mean sandbox_mode\?/,
  ],
  [
    'an unknown key',
    'my_own_settings = 1\n',
    1,
    'my_own_settings',
    /It has no effect\. docs\/configuration\.md lists the keys/,
  ],
  [
    'an unknown key of a table',
    '[auto_review]\npolicies = "x"\n',
    2,
    'auto_review.policies',
    /Did you mean policy\?|The keys of auto_review are model/,
  ],
  [
    'an unknown key of a provider',
    `${PROVIDER}api_key_name = "x"\n`,
    4,
    'api_key_name',
    /The keys of model_providers\.p are base_url|is not a known key|It has no effect/,
  ],
  [
    'a limit of agents',
    '[agents]\nmax_depth = "deep"\n',
    2,
    'agents.max_depth',
    /expected a whole number, 0 or more, found "deep"/,
  ],
  [
    'an unknown access',
    '[permissions.p.filesystem]\n":root" = "all"\n',
    2,
    ':root',
    /expected "read", "write", "deny", or a table/,
  ],
  [
    'an unknown key of a permission profile',
    '[permissions.p]\nfiles = {}\n',
    2,
    'permissions.p.files',
    /expected one of description, extends, filesystem/,
  ],
  [
    'a permission profile that does not exist',
    'default_permissions = "p"\n',
    1,
    'default_permissions',
    /there is no permission profile `p`/,
  ],
  [
    'an unknown rule of the network',
    '[features.network_proxy.domains]\n"a.example" = "ask"\n',
    2,
    'a.example',
    /"allow"|"deny"/,
  ],
  [
    'a duration that is no number',
    `${PROVIDER}stream_idle_timeout_ms = "5s"\n`,
    4,
    'stream_idle_timeout_ms',
    /expected a whole number, 1 or more/,
  ],
];

test.each(MISTAKES)('%s: %j', async (...mistake) => {
  const [, text, line, key, allowed] = mistake;
  const home = tempFolder({ 'config.toml': text });
  const warnings = await configWarnings(
    sourcesIn(home, { env: { OPENAI_API_KEY: 'k' } }),
    policyReads,
  );
  const path = join(home, 'config.toml');
  const told = warnings.map(({ summary, details, path: file, range }) => ({
    text: `${summary} ${details}`,
    file,
    line: range?.start.line,
  }));
  expect(told).toContainEqual({ text: expect.stringMatching(allowed), file: path, line });
  const found = told.find((one) => allowed.test(one.text) && one.line === line);
  expect(found?.text).toContain(key);
  expect(found?.text).toContain(`${path}:${line}:`);
  expect(warnings).toHaveLength(1);
});

test('there are more than thirty kinds', () => {
  expect(MISTAKES.length).toBeGreaterThan(30);
});
