// Lints the OpenAPI document with Spectral's `oas` ruleset; a warning counts as much as an error.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ruleset, Spectral } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';

const document = readFileSync(join(import.meta.dirname, '../contract/openapi.json'), 'utf8');
const spectral = new Spectral();
spectral.setRuleset(new Ruleset({ extends: [rulesets.oas] }));
const findings = await spectral.run(document);
for (const { code, path, message } of findings) console.error(`${code} at ${path.join('.')}: ${message}`);
console.error(`${findings.length} findings`);
process.exitCode = findings.length > 0 ? 1 : 0;
