import { ERROR_CODES, ERRORS, type ErrorCode } from '../contract/src/errors.ts';
import { statusAtPath } from '../contract/src/openai-errors.ts';
import { problemExample } from '../contract/src/openapi/refusals.ts';

/** The documentation of the errors, by path: a page for each code, where the `type` of a problem document points, and a list of all. */
export function errorPages(): Map<string, string> {
  const pages = new Map(ERROR_CODES.map((code) => [`docs/errors/${code}.md`, page(code)]));
  return pages.set('docs/errors/README.md', list());
}

function page(code: ErrorCode): string {
  const { title, type, retryable, help } = ERRORS[code];
  return `# ${title}

\`${code}\` · HTTP ${statusesOf(code)}

${help}

| What | Value |
|---|---|
| Status | ${statusesOf(code)} |
| \`code\` | \`${code}\` |
| \`error.type\` for OpenAI SDKs | \`${type}\` |
| The same request can succeed later | ${retryable ? 'yes' : 'no'} |

\`\`\`json
${JSON.stringify(problemExample(code), null, 2)}
\`\`\`
`;
}

/** OpenAI's operations answer with OpenAI's status, where it is another one. */
function statusesOf(code: ErrorCode): string {
  const { status } = ERRORS[code];
  const openAi = statusAtPath('/v1/chat/completions', code);
  return openAi === status ? String(status) : `${status}, and ${openAi} on OpenAI’s operations`;
}

function list(): string {
  const rows = ERROR_CODES.map((code) => `| ${statusesOf(code)} | [\`${code}\`](${code}.md) | ${ERRORS[code].title} |`);
  return `# Errors

Every refusal is a problem document (RFC 9457) that also carries OpenAI’s \`error\` member. Its \`type\` is the address of one of these pages.

| Status | Code | Title |
|---|---|---|
${rows.join('\n')}
`;
}
