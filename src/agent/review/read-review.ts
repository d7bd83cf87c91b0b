import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { type ReviewFinding, reviewReport } from '../../rollout/review-report.ts';

/** The longest report, in characters. It is stored in two items and read by the model. */
const REPORT_CHARS_MAX = 256 * 1024;

/** The JSON Schema of a reviewer's answer. */
export const REVIEW_SCHEMA: JsonObject = strictObject({
  findings: {
    type: 'array',
    items: strictObject({
      title: { type: 'string' },
      body: { type: 'string' },
      confidence_score: { type: 'number' },
      priority: { type: 'integer' },
      code_location: strictObject({
        absolute_file_path: { type: 'string' },
        line_range: strictObject({ start: { type: 'integer' }, end: { type: 'integer' } }),
      }),
    }),
  },
  overall_correctness: { type: 'string', enum: ['patch is correct', 'patch is incorrect'] },
  overall_explanation: { type: 'string' },
  overall_confidence_score: { type: 'number' },
});

function strictObject(properties: JsonObject): JsonObject {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/**
 * Returns the report in a reviewer's answer. An answer that is not the JSON that was asked for is
 * the report itself.
 */
export function readReview(answer: string): string {
  const review = reviewIn(answer);
  const report = review === null ? answer.trim() : reported(review);
  return cutText(report, REPORT_CHARS_MAX);
}

function reported(review: JsonObject): string {
  const findings = Array.isArray(review.findings)
    ? review.findings.filter((finding) => isObject(finding)).map(readFinding)
    : [];
  const explanation = textOf(review.overall_explanation);
  return reviewReport({ explanation, findings }) || 'No findings.';
}

/**
 * The object with the findings; null if there is none. Some models put a fence or a sentence around
 * it.
 */
function reviewIn(answer: string): JsonObject | null {
  const start = answer.indexOf('{');
  const end = answer.lastIndexOf('}');
  if (start === -1 || end < start) return null;
  try {
    const value = JSON.parse(answer.slice(start, end + 1)) as JsonValue;
    return isObject(value) &&
      (Array.isArray(value.findings) || typeof value.overall_explanation === 'string')
      ? value
      : null;
  } catch {
    return null;
  }
}

function readFinding(finding: Record<string, JsonValue>): ReviewFinding {
  const location = isObject(finding.code_location) ? finding.code_location : {};
  const lines = isObject(location.line_range) ? location.line_range : {};
  const title = textOf(finding.title);
  const priority = numberOf(finding.priority);
  return {
    title: priority === null || /^\[P\d\]/.test(title) ? title : `[P${priority}] ${title}`,
    body: textOf(finding.body),
    path: textOf(location.absolute_file_path) || null,
    start: numberOf(lines.start),
    end: numberOf(lines.end),
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.trim() : '';
}

function numberOf(value: JsonValue | undefined): number | null {
  return typeof value === 'number' ? value : null;
}
