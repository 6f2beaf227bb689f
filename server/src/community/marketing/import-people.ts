import { EmailAddress, type MarketingPeopleImportResponse } from '@tallygate/contract';
import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Principal } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { withoutGuard } from '../../kernel/csv-row.ts';
import { newId } from '../../kernel/ids.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { checkedRows } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { breather } from '../../kernel/turn.ts';
import { writtenJson } from '../../kernel/written-json.ts';
import { eventSlugs } from '../events/index.ts';
import { foldForSearch, normalAddress } from '../people/index.ts';
import { type CsvRow, readCsv } from './csv.ts';

const ROWS_AT_ONCE = 200;
const MAX_ERRORS = 1_000;

const text = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
    .refine((value) => !/[\u0000-\u001f\u007f]/.test(value), 'must not contain control characters')
    .transform((value) => value || undefined)
    .optional();

const Row = z.object({
  email: z.string().trim().pipe(EmailAddress),
  name: text(200),
  company: text(200),
  client_type: text(100),
  event_slug: text(100),
  tags: z
    .string()
    .transform((list) => [...new Set(list.split(';').map((tag) => tag.trim().toLowerCase()))].filter((tag) => tag !== ''))
    .pipe(z.array(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'must be letters, digits, dashes and underscores')).max(20))
    .optional(),
  consent: z.enum(['given', 'claimed', 'none', ''], 'must be given or empty').optional(),
  consent_given_at: z
    .string()
    .trim()
    .transform((time) => time || undefined)
    .pipe(z.iso.datetime({ offset: true, error: 'must be a time such as 2026-11-21T08:00:00Z' }).optional())
    .optional(),
});
type Row = z.infer<typeof Row>;
const COLUMNS = Object.keys(Row.shape);
/** Columns of an export that are computed here and not imported. */
const PASSED_OVER = [
  ...['person_id', 'status', 'subscription', 'sources', 'event_slugs', 'owner', 'plan_tier', 'consent_source', 'created_at', 'updated_at'],
];

interface ImportDeps {
  readonly pool: Pool;
  readonly clock: Clock;
}

interface Caller {
  readonly principal: Principal;
  readonly origin: Origin;
}

/**
 * Takes people from a CSV file as it comes in, some hundred rows a transaction. Every row can be taken twice, so a file whose import broke
 * off is sent again.
 */
export async function importPeople(
  { pool, clock }: ImportDeps,
  { principal, origin }: Caller,
  pieces: AsyncIterable<string>,
): Promise<MarketingPeopleImportResponse> {
  const result: MarketingPeopleImportResponse = { rows: 0, created: 0, updated: 0, skipped: 0, failed: 0, errors: [] };
  const actor = actorOf(principal);
  const slugs = await eventSlugs(pool);
  let columns: string[] | undefined;
  let pending: Row[] = [];
  const rest = breather();
  const flush = async () => {
    const rows = pending;
    pending = [];
    const outcomes = await inTransaction(pool, (client) => takeRows(client, rows, { at: new Date(clock.now()), actor }));
    for (const { outcome, people } of outcomes) result[outcome] += Number(people);
  };
  for await (const row of readCsv(pieces)) {
    if (!columns) {
      columns = columnsOf(row);
      continue;
    }
    result.rows++;
    const parsed = parseRow(row, columns, { slugs, now: clock.now() });
    if (typeof parsed === 'string') {
      result.failed++;
      if (result.errors.length < MAX_ERRORS) result.errors.push({ line: row.line, message: parsed });
    } else pending.push(parsed);
    if (pending.length === ROWS_AT_ONCE) await flush();
    await rest();
  }
  if (!columns) throw unusable('is empty: its first line has to name the columns');
  await flush();
  const { errors: _, ...counts } = result;
  await recordAudit(pool, {
    accountId: principal.accountId,
    actor,
    action: 'people.imported',
    target: { kind: 'people', id: 'import' },
    changes: counts,
    origin,
  });
  return result;
}

function columnsOf({ cells, fault }: CsvRow): string[] {
  const columns = cells.map((cell) => cell.trim().toLowerCase());
  if (fault !== undefined) throw unusable(`has a first line that cannot be read: ${fault}`);
  if (!columns.includes('email')) throw unusable('has no column email: its first line has to name the columns');
  const unknown = columns.filter((column) => !COLUMNS.includes(column) && !PASSED_OVER.includes(column));
  if (unknown.length > 0) throw unusable(`has columns that nobody knows (${unknown.join(', ')}): there are ${COLUMNS.join(', ')}`);
  if (new Set(columns).size < columns.length) throw unusable('names a column twice');
  return columns;
}

const unusable = (msg: string) => invalidInput([{ loc: ['body'], msg: msg.slice(0, 300), type: 'value_error' }]);

interface Known {
  readonly slugs: ReadonlySet<string>;
  readonly now: number;
}

/** @returns the row, or what is wrong with it */
function parseRow({ cells, fault }: CsvRow, columns: readonly string[], { slugs, now }: Known): Row | string {
  if (fault !== undefined) return fault;
  if (cells.length !== columns.length) return `has ${cells.length} cells instead of ${columns.length}`;
  const parsed = Row.safeParse(Object.fromEntries(columns.map((column, at) => [column, withoutGuard(cells[at] ?? '')])));
  if (parsed.success) {
    const { event_slug: slug, consent_given_at: givenAt } = parsed.data;
    if (givenAt !== undefined && Date.parse(givenAt) > now) return 'consent_given_at: must not be in the future';
    return slug === undefined || slugs.has(slug) ? parsed.data : 'event_slug: must be the slug of an event that there is';
  }
  return parsed.error.issues.map(({ path, message }) => `${String(path[0])}: ${message}`).join('; ');
}

interface Importer {
  readonly at: Date;
  readonly actor: { readonly kind: string; readonly id: string | null };
}

const Outcome = z.object({ outcome: z.enum(['created', 'updated', 'skipped']), people: z.bigint() });
type Outcome = z.infer<typeof Outcome>;

const sightingOf = ({ email, name, company, client_type, event_slug, tags }: Row, { at }: Importer): object => ({
  ...{ person_id: newId(), email: normalAddress(email), source: 'import', at: rfc3339(at) },
  ...{ name, folded_name: foldForSearch(name ?? ''), company, folded_company: foldForSearch(company ?? '') },
  ...{ client_type, event_slug, tags },
});

/** In the order of their addresses, so that two imports of the same people wait for each other instead of for ever. */
async function takeRows(client: PoolClient, rows: readonly Row[], by: Importer): Promise<Outcome[]> {
  const sightings: object[] = [];
  const rest = breather();
  for (const row of rows) {
    sightings.push(sightingOf(row, by));
    await rest();
  }
  const values = [(await writtenJson(sightings)).toString(), by.actor.kind, by.actor.id];
  const outcomes = await checkedRows(client, Outcome, 'select outcome, people from import_people($1::jsonb, $2, $3)', values);
  await takeConsents(client, rows, by);
  return outcomes;
}

/** What the team has on record. Only what was given: that something was merely claimed is nothing to vouch for. */
async function takeConsents(client: PoolClient, rows: readonly Row[], { at, actor }: Importer): Promise<void> {
  const given = rows.filter(({ consent }) => consent === 'given');
  if (given.length === 0) return;
  const consents = given.map(({ email, consent_given_at }) => ({ email: normalAddress(email), given_at: consent_given_at ?? at, at }));
  await client.query('select import_consents($1::jsonb, $2, $3)', [JSON.stringify(consents), actor.kind, actor.id]);
}
