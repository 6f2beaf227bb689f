import { keysOf, PRESETS, type Preset, urlsOf } from '../server/src/app/provider-presets.ts';
import { table } from './markdown-table.ts';

const HEAD = `# Providers that are preset

One variable opens each of these ${PRESETS.length} endpoints with OpenAI's API:

\`\`\`sh
GROQ_API_KEY=gsk_… npm start
OLLAMA_BASE_URL=http://127.0.0.1:11434/v1 npm start
\`\`\`

Models that the [catalogue](catalog.md) files under the name are served at once. Other models are found by asking the endpoint (\`GET /v1/models\`), under the name of the preset: \`groq/…\`. They are served once they have a price. More keys for one provider, weights and addresses of your own go into the [providers file](providers.md#by-file); what is said here of an address holds there too.

A request with a field that an endpoint lacks goes to the next deployment of the model; without one it is refused with 400 (\`upstream_rejected\`) and the field's name.
`;

/** docs/guides/provider-presets.md: every preset, from where it is read. */
export function providerPresetsPage(): string {
  const rows = PRESETS.map((preset) => [
    preset.title,
    `\`${preset.name}/…\``,
    (preset.isLocal ? urlsOf(preset) : keysOf(preset)).map((name) => `\`${name}\``).join(' or '),
    `\`${preset.home}\``,
    differencesOf(preset),
    preset.sources.map((source, at) => `[${at + 1}](${source})`).join(' '),
  ]);
  return `${HEAD}\n${table([['provider', 'models', 'variable', 'address', 'what differs', 'documents'], ...rows])}\n`;
}

function differencesOf({ quirks = {}, note, isLocal }: Preset): string {
  const { lacks = [], omits = [], renames = {}, takesOneBound, hasResponses } = quirks;
  const names = (fields: readonly string[]) => fields.map((field) => `\`${field}\``).join(', ');
  return [
    ...(isLocal ? ['yours: opened by its address, this one is its default'] : []),
    ...(hasResponses ? ['has Responses'] : []),
    ...(lacks.length > 0 ? [`lacks ${names(lacks)}`] : []),
    ...(omits.length > 0 ? [`is not sent ${names(omits)}`] : []),
    ...(takesOneBound ? ['takes `max_tokens` alone'] : []),
    ...Object.entries(renames).map(([ours, theirs]) => `calls \`${ours}\` \`${theirs}\``),
    ...(note ? [note] : []),
  ].join('; ');
}
