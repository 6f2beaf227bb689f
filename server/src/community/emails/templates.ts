import { isDeepStrictEqual } from 'node:util';
import type {
  MarketingEmailTemplateCreateRequest,
  MarketingEmailTemplateRecord,
  MarketingEmailTemplateUpdateRequest,
} from '@tallygate/contract';
import pg, { type Pool, type PoolClient } from 'pg';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Principal } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { type Keyed, Keyset, mapPage, type Page, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { type Template, unknownVariables } from './render.ts';

interface Author {
  readonly principal: Principal;
  readonly origin: Origin;
}

interface TemplateQuery extends PageQuery {
  readonly isArchived: boolean;
}

const TEMPLATES = new Keyset({ name: 'templates', columns: { updated_at: 'time', template_id: 'uuid' }, direction: 'desc' });

/** A row of `email_templates`. */
interface TemplateRow {
  readonly template_id: string;
  readonly name: string;
  readonly subject: string;
  readonly text_body: string;
  readonly html_body: string | null;
  readonly variables: Readonly<Record<string, string>>;
  readonly version: number;
  readonly archived_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

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
  /** Once or often comes to the same. @throws Problem `not_found` */
  archive(author: Author, templateId: string): Promise<MarketingEmailTemplateRecord>;
}

const COLUMNS = ['name', 'subject', 'text_body', 'html_body', 'variables'] as const;
type Words = Pick<TemplateRow, (typeof COLUMNS)[number]>;

export function createEmailTemplates({ pool, clock }: { readonly pool: Pool; readonly clock: Clock }): EmailTemplates {
  const locked = async (client: PoolClient, templateId: string): Promise<TemplateRow> => {
    const { rows } = await client.query<TemplateRow>('select * from email_templates where template_id = $1 for update', [templateId]);
    return rows[0] ?? refuse();
  };
  const audit = (
    client: PoolClient,
    { principal, origin }: Author,
    action: 'created' | 'updated' | 'archived',
    { template_id, name }: TemplateRow,
  ) =>
    recordAudit((sql, values) => client.query(sql, values), {
      ...{ accountId: principal.accountId, actor: actorOf(principal), origin },
      ...{ action: `email_template.${action}`, target: { kind: 'email_template', id: template_id }, changes: { name } },
    });

  return {
    create: (author, { name, subject, text, html = null, variables = {} }) =>
      inTransaction(pool, async (client) => {
        const { rows } = await unlessTaken(() =>
          client.query<TemplateRow>(
            `insert into email_templates (template_id, created_at, updated_at, ${COLUMNS.join(', ')})
             values ($1, $2, $2, $3, $4, $5, $6, $7) returning *`,
            [newId(), new Date(clock.now()), name, subject, text, html, JSON.stringify(variables)],
          ),
        );
        const made = rows[0] ?? refuse();
        await audit(client, author, 'created', made);
        return toWire(made);
      }),

    async list({ isArchived, ...query }) {
      const { rows } = await pool.query<TemplateRow & Keyed>(
        `select *, ${TEMPLATES.key} from email_templates where (archived_at is not null) = $1 and ${TEMPLATES.after('$2')}
          order by ${TEMPLATES.order} limit $3`,
        [isArchived, ...TEMPLATES.values(query)],
      );
      return mapPage(TEMPLATES.page(rows, query), toWire);
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
        const { rows } = await unlessTaken(() =>
          client.query<TemplateRow>(
            `update email_templates set (${COLUMNS.join(', ')}) = ($3, $4, $5, $6, $7), version = version + 1, updated_at = $2
             where template_id = $1 returning *`,
            [
              ...[templateId, new Date(clock.now()), after.name, after.subject, after.text_body, after.html_body],
              JSON.stringify(after.variables),
            ],
          ),
        );
        const made = rows[0] ?? refuse();
        await audit(client, author, 'updated', made);
        return toWire(made);
      }),

    archive: (author, templateId) =>
      inTransaction(pool, async (client) => {
        const before = await locked(client, templateId);
        if (before.archived_at) return toWire(before);
        const { rows } = await client.query<TemplateRow>(
          'update email_templates set archived_at = $2, updated_at = $2 where template_id = $1 returning *',
          [templateId, new Date(clock.now())],
        );
        const made = rows[0] ?? refuse();
        await audit(client, author, 'archived', made);
        return toWire(made);
      }),
  };
}

/** What a mail says that is made from a template. @throws Problem `not_found`, `conflict` for one that is archived */
export async function wordsOf(sql: Pick<Pool, 'query'>, templateId: string, variables: Template['variables']): Promise<Template> {
  const row = await templateById(sql, templateId);
  if (row.archived_at) throw isArchived();
  return { ...templateOf(row), variables: { ...row.variables, ...variables } };
}

async function templateById(sql: Pick<Pool, 'query'>, templateId: string): Promise<TemplateRow> {
  const { rows } = await sql.query<TemplateRow>('select * from email_templates where template_id = $1', [templateId]);
  return rows[0] ?? refuse();
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
