import { defaultOf, VARIABLE_GROUPS } from '../server/src/app/variables.ts';
import { table } from './markdown-table.ts';

const HEAD = `# Settings

Settings are environment variables, read once at the start; a wrong one is named and the server does not start. Empty ones count as unset. \`tallygate-server\`, \`npm start\`, the container image and the Helm chart read the same ones.

In production, set at least \`DATABASE_URL\`, \`PUBLIC_URL\`, \`MASTER_KEYS\`, \`RECEIPT_SIGNING_KEY\`, \`LOG_SIGNING_KEY\`, \`INTERNAL_SECRET\` and \`METRICS_TOKEN\`: [how to make them](deploy.md#secrets).
`;

/** Families of variables, which have a guide each. */
const FAMILIES = [
  [
    '`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, …, `OPENAI_BASE_URL`, …',
    'none',
    '[Providers](providers.md) by your key of each, and their addresses.',
  ],
  ['`AZURE_OPENAI_…`', 'none', '[Azure OpenAI](providers.md).'],
  ['`AWS_…`', 'none', '[Amazon Bedrock](providers.md): its key and region, and all that AWS’s own libraries read for credentials.'],
  ['`GOOGLE_GENAI_USE_VERTEXAI`, `GOOGLE_CLOUD_…`, `GOOGLE_APPLICATION_CREDENTIALS`', 'none', '[Google Vertex](providers.md).'],
  ['`PLANS_FILE`', 'the shipped tiers', '[Your own plans](plans.md#offer-your-own-plans).'],
  ['`ANCHOR_…`', 'nothing is anchored', '[Chains on which the receipts’ log is anchored](anchoring.md#configuration).'],
  [
    '`MALLOC_…`, `NODE_OPTIONS`, `NODE_EXTRA_CA_CERTS`',
    'as Node and glibc',
    'Of glibc and Node: `tallygate-server` and `npm start` set the first ones, [unless you do](running.md).',
  ],
];

/** docs/guides/settings.md: every variable, from where it is read. */
export function settingsPage(): string {
  const groups = VARIABLE_GROUPS.map(({ title, variables }) => {
    const rows = Object.entries(variables).map(([name, description]) => [`\`${name}\``, defaultOf(name, description), description.text]);
    return `## ${title}\n\n${table([['variable', 'default', 'meaning'], ...rows])}`;
  });
  const families = `## Families\n\n${table([['variables', 'default', 'meaning'], ...FAMILIES])}`;
  return `${[HEAD.trimEnd(), ...groups, families].join('\n\n')}\n`;
}
