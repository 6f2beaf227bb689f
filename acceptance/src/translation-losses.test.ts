import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from './account.ts';
import { allDialects, DIALECTS } from './dialects.ts';
import { Gateway } from './gateway.ts';
import { SURFACE_FIELDS, type SurfaceFields } from './surface-fields.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/guides/translation.md'), 'utf8');
let upstream: FakeUpstream;
let gateway: Gateway;
let key: string;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start(allDialects(upstream));
  ({ key } = await (await Account.signUp(gateway, { plan: 'enterprise' })).createKey());
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});

/** What the provider gets; undefined where it gets nothing, because the request is refused. */
async function sentFor({ path, headers }: SurfaceFields, model: string, body: object): Promise<string | undefined> {
  upstream.reset();
  const answer = await fetch(`${gateway.url}${path(model)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const [request] = upstream.requests;
  if (request) return JSON.stringify(request.body);
  expect([answer.status, text]).toEqual([400, expect.anything()]);
  return undefined;
}

/** A table: of each field, what becomes of it at each provider. */
async function tableOf(surface: SurfaceFields): Promise<string> {
  const rows = surface.fields.map(({ name }) => [name.replace(/^(?!a )(?:\S+: \S+|\S+)/, '`$&`')]);
  for (const { model } of DIALECTS) {
    for (const [at, { change, without = {} }] of surface.fields.entries()) {
      const base = { ...surface.base(model), ...without };
      const [plain, changed] = [await sentFor(surface, model, base), await sentFor(surface, model, { ...base, ...change })];
      expect(plain).toBeDefined();
      rows[at]?.push(changed === undefined ? 'refused' : changed === plain ? 'left out' : 'sent');
    }
  }
  const head = ['field', ...DIALECTS.map(({ provider }) => provider)];
  return aligned([head, head.map(() => '-'), ...rows]);
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map(
      (row) =>
        `| ${row.map((cell, column) => (cell === '-' ? '-'.repeat(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`,
    )
    .join('\n');
}

test.each(SURFACE_FIELDS)('the documented table of what is sent of $title is what the gateway sends', async (surface) => {
  expect(PAGE).toContain(`## ${surface.title}\n\n${await tableOf(surface)}\n`);
});
