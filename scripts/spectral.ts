// Lints the OpenAPI document with Spectral's `oas` ruleset; a warning counts as much as an error.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ruleset, Spectral } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';

type Operation = Readonly<Record<string, unknown>> & { readonly responses?: Readonly<Record<string, object>> };
interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** They compile the schema of an example wherever it is referred to, without looking whether they did so before. */
const EXAMPLES = ['oas3-valid-media-example', 'oas3-valid-schema-example'];

const text = readFileSync(join(import.meta.dirname, '../contract/openapi.json'), 'utf8');
const findings = [
  ...(await lint(text, { extends: [rulesets.oas], rules: Object.fromEntries(EXAMPLES.map((name) => [name, 'off'])) })),
  ...(await lint(JSON.stringify(eachResponseOnce(JSON.parse(text))), {
    extends: [[rulesets.oas, 'off']],
    rules: Object.fromEntries(EXAMPLES.map((name) => [name, true])),
  })),
];
for (const { code, path, message } of findings) console.error(`${code} at ${path.join('.')}: ${message}`);
console.error(`${findings.length} findings`);
process.exitCode = findings.length > 0 ? 1 : 0;

function lint(document: string, rules: object) {
  const spectral = new Spectral();
  spectral.setRuleset(new Ruleset(rules));
  return spectral.run(document);
}

/** Without the references of operations to shared responses, of which there are thousands: these are looked at among the components. */
function eachResponseOnce(document: OpenApiDocument) {
  const paths = Object.entries(document.paths).map(([path, operations]) => [
    path,
    Object.fromEntries(Object.entries(operations).map(([method, operation]) => [method, withOwnResponses(operation)])),
  ]);
  return { ...document, paths: Object.fromEntries(paths) };
}

function withOwnResponses({ responses, ...operation }: Operation) {
  if (responses === undefined) return operation;
  return { ...operation, responses: Object.fromEntries(Object.entries(responses).filter(([, response]) => !('$ref' in response))) };
}
