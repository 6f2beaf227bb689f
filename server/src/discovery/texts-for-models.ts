import { ERRORS, SCOPES } from '@tallygate/contract';
import { modelTable } from './model-prices.ts';
import { CREDENTIAL, SAFEGUARDS, type SelfPortrait } from './self-portrait.ts';
import type { Operation } from './surface.ts';

/** `/llms.txt`, in the format of llmstxt.org: a title, a summary, what to know first, then sections of links. */
export function llmsText({ surface, guides, publicUrl: url }: SelfPortrait): string {
  return `# Tallygate

> ${surface.summary} ${surface.description}

- Base URL of OpenAI clients: \`${url}/v1\`
- MCP server (streamable HTTP): \`${url}/mcp\`
- Credential: ${CREDENTIAL}
- Spending is held before a model runs and settled after it: a 402 is a cap that waiting does not cure.

## Start

- [For agents](${url}/agents.md): how to call, what it costs, which errors to repeat
- [Models and prices](${url}/.well-known/agent.json): the catalogue, with protocols and safeguards
- [OpenAPI document](${url}/openapi.json): every operation with its schemas and errors

## Guides

${guides.map(({ path, title, summary }) => `- [${title}](${url}/docs/${path}.md): ${summary}`).join('\n')}

## Optional

- [Everything in one text](${url}/llms-full.txt): guides, endpoints, errors and prices
- [OpenAPI as YAML](${url}/openapi.yaml): the same document
- [Agent card](${url}/.well-known/agent-card.json): in A2A’s form
- [Receipt keys](${url}/.well-known/vaas-keys.json): what verifies receipts
- [Prices](${url}/v1/prices): every price that receipts name, past ones included
- [Reporting a vulnerability](${url}/.well-known/security.txt): RFC 9116
`;
}

/** `/llms-full.txt`: all of it in one text. Headings of the guides go one level down, so that the whole is one document. */
export function llmsFullText(portrait: SelfPortrait): string {
  const { guides, models } = portrait;
  const chapters = guides.map(({ text }) => lowered(text.trim()));
  return `${llmsText(portrait)}
${chapters.join('\n\n')}

## Endpoints

${endpointsByTag(portrait)}

## Errors

${errorTable()}

## Models

${modelTable(models)}
`;
}

/** `/agents.md`. */
export function agentsGuide(portrait: SelfPortrait): string {
  const { surface, models, publicUrl: url } = portrait;
  return `# Tallygate for agents

${surface.summary} ${surface.description}

## Call it

${CREDENTIAL} Scopes of a key: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}.

\`\`\`sh
curl ${url}/v1/chat/completions \\
  -H "Authorization: Bearer $TALLYGATE_API_KEY" -H "Content-Type: application/json" \\
  -H "X-Agent-Run-Id: my-session" -H "X-Agent-Max-Budget: 0.50" \\
  -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}'
\`\`\`

Every OpenAI client works with the base URL \`${url}/v1\`. MCP clients connect to \`${url}/mcp\` (streamable HTTP) with the same credential: its tools are operations of this API, under the same scopes, budgets and errors.

## Stay within bounds

| header | what it does |
| --- | --- |
${SAFEGUARDS.map(({ name, description }) => `| \`${name}\` | ${description} |`).join('\n')}

The worst case of a request is held on every cap before the model runs; afterwards the actual cost takes its place. An answer carries \`usage.cost\`, \`X-Cost-USD\` and \`X-Receipt-Id\`; \`GET ${url}/v1/receipts/{receipt_id}\` is the signed receipt.

## Errors

\`application/problem+json\`, with OpenAI’s \`error\` member beside it. Decide by \`code\`; \`detail\` says what to do. Repeat only what may be repeated, after \`Retry-After\`.

${errorTable()}

## Operations

${endpointsByTag(portrait)}

The schemas are in ${url}/openapi.json.

## Models

${modelTable(models)}
`;
}

const lowered = (markdown: string): string => {
  let isCode = false;
  return markdown
    .split('\n')
    .map((line) => {
      if (line.startsWith('```')) isCode = !isCode;
      return !isCode && line.startsWith('#') ? `#${line}` : line;
    })
    .join('\n');
};

function endpointsByTag({ surface: { tags, operations } }: SelfPortrait): string {
  const line = ({ method, path, summary, id, scope }: Operation) =>
    `- \`${method} ${path}\` (\`${id}\`${scope === undefined ? '' : `, scope \`${scope}\``}): ${summary}`;
  return tags
    .map(({ name, description }) => {
      const lines = operations.filter(({ tag }) => tag === name).map(line);
      return `### ${name}\n\n${description}\n\n${lines.join('\n')}`;
    })
    .join('\n\n');
}

function errorTable(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, title, retryable }]) => `| \`${code}\` | ${status} | ${title} | ${retryable ? 'yes' : 'no'} |`,
  );
  return ['| code | status | meaning | repeat |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
