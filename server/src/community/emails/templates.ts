import { isDeepStrictEqual } from 'node:util';
import type {
  MarketingEmailTemplateCreateRequest,
  MarketingEmailTemplateRecord,
  MarketingEmailTemplateUpdateRequest,
} from '@tallygate/contract';
import { sql } from 'kysely';
import pg, { type Pool, type PoolClient } from 'pg';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Principal } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { asJson, firstOf, type Queryable, type RowOf, rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import type { EmailTemplate } from './entities.ts';
import { type Template, unknownVariables } from './render.ts';
import { tables } from './tables.ts';

interface Author {
  readonly principal: Principal;
  readonly origin: Origin;
}

interface TemplateQuery extends PageQuery {
  readonly isArchived: boolean;
}

const TEMPLATES = new Keyset({ name: 'templates', columns: { updated_at: 'time', template_id: 'uuid' }, direction: 'desc' });

type TemplateRow = RowOf<typeof EmailTemplate>;

/** Templates of marketing mails. Every change is in the audit log. */
export interface EmailTemplates {
  /** @throws Problem `conflict` for a name that is taken */
  create(author: Author, request: MarketingEmailTemplateCreateRequest): Promise<MarketingEmailTemplateRecord>;
  /** What was changed last first. */
  list(query: TemplateQuery): Promise<Page<MarketingEmailTemplateRecord>>;
  /** @throws Problem `not_found` */
  get(templateId: string): Promise<MarketingEmailTemplateRecord>;
  /** @throws Problem `not_found`, `conflict` for one that is archived or a name that is taken */
  update(author: Author, templateId: string, request: MarketingEmailTemplateUpdateRequest): Promise<MarketingEmailTemplateRecord>;
  /** Idempotent. @throws Problem `not_found` */
  archive(author: Author, templateId: string): Promise<MarketingEmailTemplateRecord>;
}

const COLUMNS = ['name', 'subject', 'text_body', 'html_body', 'variables'] as const;
type Words = Pick<TemplateRow, (typeof COLUMNS)[number]>;

const ALL = tables.selectFrom('email_templates');

export function createEmailTemplates({ pool, clock }: { readonly pool: Pool; readonly clock: Clock }): EmailTemplates {
  return {
    create: (author, { name, subject, text, html = null, variables = {} }) =>
      inTransaction(pool, async (client) => {
        const now = new Date(clock.now());
        const words = { name, subject, text_body: text, html_body: html, variables: asJson(variables) };
        const row = { template_id: newId(), created_at: now, updated_at: now, ...words };
        const made = await unlessTaken(() => firstOf(client, tables.insertInto('email_templates').values(row).returningAll()));
        if (!made) return refuse();
        await audit(client, author, 'created', made);
        return toWire(made);
      }),

    async list({ isArchived, ...query }) {
      const filtered = ALL.selectAll().where('archived_at', isArchived ? 'is not' : 'is', null);
      return mapPage(TEMPLATES.page(await rowsOf(pool, TEMPLATES.pageIn(filtered, query)), query), toWire);
    },

    get: async (templateId) => toWire(await templateById(pool, templateId)),

    update: (author, templateId, { text, html, ...same }) =>
      inTransaction(pool, async (client) => {
        const before = await locked(client, templateId);
        if (before.archived_at) throw isArchived();
        const given = { ...same, text_body: text, html_body: html };
        const after: Words = { ...before, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) };
        // What changes nothing is no new version.
        if (COLUMNS.every((name) => isDeepStrictEqual(after[name], before[name]))) return toWire(before);
        const made = await writeVersion(client, templateId, after, new Date(clock.now()));
        await audit(client, author, 'updated', made);
        return toWire(made);
      }),

    archive: (author, templateId) =>
      inTransaction(pool, async (client) => {
        const before = await locked(client, templateId);
        if (before.archived_at) return toWire(before);
        const now = new Date(clock.now());
        const archived = tables.updateTable('email_templates').set({ archived_at: now, updated_at: now });
        const made = await firstOf(client, archived.where('template_id', '=', templateId).returningAll());
        if (!made) return refuse();
        await audit(client, author, 'archived', made);
        return toWire(made);
      }),
  };
}

async function locked(client: PoolClient, templateId: string): Promise<TemplateRow> {
  const found = ALL.selectAll().where('template_id', '=', templateId).forUpdate();
  return (await firstOf(client, found)) ?? refuse();
}

const audit = (
  client: PoolClient,
  { principal, origin }: Author,
  action: 'created' | 'updated' | 'archived',
  { template_id, name }: TemplateRow,
) =>
  recordAudit(client, {
    ...{ accountId: principal.accountId, actor: actorOf(principal), origin },
    ...{ action: `email_template.${action}`, target: { kind: 'email_template', id: template_id }, changes: { name } },
  });

async function writeVersion(client: PoolClient, templateId: string, words: Words, now: Date): Promise<TemplateRow> {
  const { name, subject, text_body, html_body, variables } = words;
  const changed = tables
    .updateTable('email_templates')
    .set({ name, subject, text_body, html_body, variables: asJson(variables) })
    .set({ version: sql<number>`version + 1`, updated_at: now })
    .where('template_id', '=', templateId)
    .returningAll();
  return (await unlessTaken(() => firstOf(client, changed))) ?? refuse();
}

/** The text of a mail from a template. @throws Problem `not_found`, `conflict` for one that is archived */
export async function wordsOf(db: Queryable, templateId: string, variables: Template['variables']): Promise<Template> {
  const row = await templateById(db, templateId);
  if (row.archived_at) throw isArchived();
  return { ...templateOf(row), variables: { ...row.variables, ...variables } };
}

async function templateById(db: Queryable, templateId: string): Promise<TemplateRow> {
  return (await firstOf(db, ALL.selectAll().where('template_id', '=', templateId))) ?? refuse();
}

const templateOf = ({ subject, text_body, html_body, variables }: TemplateRow): Template => ({
  ...{ subject, text: text_body, html: html_body, variables },
});

const toWire = (row: TemplateRow): MarketingEmailTemplateRecord => ({
  template_id: row.template_id,
  name: row.name,
  ...templateOf(row),
  variables: { ...row.variables },
  missing_variables: unknownVariables(templateOf(row)),
  version: row.version,
  archived_at: row.archived_at && rfc3339(row.archived_at),
  created_at: rfc3339(row.created_at),
  updated_at: rfc3339(row.updated_at),
});

async function unlessTaken<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (failure) {
    if (failure instanceof pg.DatabaseError && failure.constraint === 'email_templates_name')
      throw new Problem('conflict', 'Another template has this name: choose another one, or archive that one.', { param: 'name' });
    throw failure;
  }
}

const isArchived = (): Problem => new Problem('conflict', 'The template is archived: store another one.');

const refuse = (): never => {
  throw new Problem('not_found', 'No such template: GET /v1/marketing/email-templates lists those there are.');
};
