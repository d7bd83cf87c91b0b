import { describe, expect, test } from 'vitest';
import { suggestKey } from '../../../src/base/text/suggest-key.ts';

describe('the known key that is most similar', () => {
  test.each([
    ['modle', ['model', 'mode'], 'model'],
    ['approvalPolicy', ['approval_policy'], 'approval_policy'],
    ['sandbox', ['sandbox_workspace_write', 'sandbox_mode'], 'sandbox_mode'],
    ['sandboxPolicy', ['sandbox', 'model'], 'sandbox'],
    ['approval', ['approvalPolicy', 'approvalsReviewer'], 'approvalPolicy'],
    ['model_name', ['model', 'model_provider'], 'model'],
    // Letters count before words.
    ['sandbox_mod', ['sandbox', 'sandbox_mode'], 'sandbox_mode'],
  ])('%s', (key, known, suggested) => {
    expect(suggestKey(key, known)).toBe(suggested);
  });

  test.each([
    ['a known key', 'sandbox', ['sandbox', 'sandbox_mode']],
    ['two keys with as many other words', 'sandbox', ['sandbox_mode', 'sandbox_policy']],
    ['a start that is no whole word', 'sand', ['sandbox']],
    ['a short start', 'web', ['web_search']],
    ['other words', 'mode_of_sandbox', ['sandbox_mode']],
    ['nothing', '', ['sandbox_mode']],
    [
      'a text of a client that would take long',
      `sandbox_mode${'-a'.repeat(4_000_000)}`,
      ['sandbox_mode'],
    ],
  ])('none for %s', (_, key, known) => {
    expect(suggestKey(key, known)).toBeNull();
  });
});
