// Holds that the API still serves clients that were written for the last release: compares openapi.json with the one of the newest release in
// the history, or of the revision that is named (`node scripts/contract-changes.ts main~5`). Intended breaks are listed, with their reason,
// in contract/accepted-changes.json.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readDocument } from '../contract/src/openapi/read-document.ts';
import { breakingChanges } from './contract-changes/breaking-changes.ts';
import type { Document } from './contract-changes/openapi.ts';

const DOCUMENT = 'contract/openapi.json';
const ACCEPTED = 'contract/accepted-changes.json';
/** How releases are tagged; the SDK is released with every change of the contract. */
const RELEASES = '@tallygate/sdk@*';

const root = dirname(import.meta.dirname);
const release = process.argv[2] ?? git('describe', '--tags', '--abbrev=0', '--match', RELEASES)?.trim();
if (release === undefined) console.error('No release in this history: there is nothing to compare with.');
else compareWith(release);

function compareWith(revision: string): void {
  const released = git('show', `${revision}:${DOCUMENT}`);
  if (released === undefined) throw new Error(`There is no ${DOCUMENT} in ${revision}`);
  const before = readDocument<Document>(released);
  const after = readDocument<Document>(readFileSync(join(root, DOCUMENT), 'utf8'));
  const accepted: Readonly<Record<string, string>> = JSON.parse(readFileSync(join(root, ACCEPTED), 'utf8'));
  const changes = breakingChanges(before, after);
  const refused = changes.filter((change) => !(change in accepted));
  for (const change of refused) console.error(`FAIL ${change}`);
  for (const change of Object.keys(accepted)) if (!changes.includes(change)) console.error(`${ACCEPTED} can lose "${change}"`);
  console.error(`Since ${revision}: ${changes.length} breaking changes, ${refused.length} of them not accepted`);
  if (refused.length > 0) console.error('CONTRIBUTING.md says what to do, under "Change the API".');
  process.exitCode = refused.length > 0 ? 1 : 0;
}

/** @returns what it says, or `undefined` when it fails */
function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return status === 0 ? stdout : undefined;
}
