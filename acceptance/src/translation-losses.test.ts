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

const asked = new Map<string, Promise<string | undefined>>();

/** Most fields are compared with the same request. */
async function sentOnce(surface: SurfaceFields, model: string, body: object): Promise<string | undefined> {
  const name = JSON.stringify([surface.title, model, body]);
  const sent = asked.get(name) ?? sentFor(surface, model, body);
  asked.set(name, sent);
  return sent;
}

async function fateOf(surface: SurfaceFields, model: string, { change, without = {} }: SurfaceFields['fields'][number]): Promise<string> {
  const base = { ...surface.base(model), ...without };
  const plain = await sentOnce(surface, model, base);
  const changed = await sentFor(surface, model, { ...base, ...change });
  // A model that does not see, or calls no tools, is not asked with them.
  return changed === undefined || plain === undefined ? 'refused' : changed === plain ? 'left out' : 'sent';
}

/** A table: of each field, what becomes of it at each provider. */
async function tableOf(surface: SurfaceFields): Promise<string> {
  const rows = surface.fields.map(({ name }) => [name.replace(/^(?!a )(?:\S+: \S+|\S+)/, '`$&`')]);
  for (const { model, seeing, thinking } of DIALECTS) {
    for (const [at, field] of surface.fields.entries()) {
      const fates = new Set<string>();
      for (const one of [model, seeing, thinking]) if (one) fates.add(await fateOf(surface, one, field));
      rows[at]?.push(['sent', 'left out', 'refused'].find((fate) => fates.has(fate)) ?? '');
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
