import { newId } from '../kernel/ids.ts';
import { asJson, type Queryable, run } from '../kernel/statements.ts';
import { tables } from './tables.ts';
import type { TemplateData, TemplateName } from './templates.ts';

interface QueuedMail<Name extends TemplateName> {
  /** One bare address. */
  readonly to: string;
  readonly template: Name;
  readonly data: TemplateData<Name>;
  /** Of two mails with one key only the first is ever sent: `budget:<key>:2026-11:80`. */
  readonly dedupeKey?: string;
  readonly accountId?: string;
  /** Rather none than two: what may have arrived when its sender died is not sent again. */
  readonly isSentOnce?: true;
}

/** Writes a mail into the outbox, in the transaction of the change that it is about. A job sends it: at least once, or at most once with `isSentOnce`. */
export async function queueMail<Name extends TemplateName>(
  db: Queryable,
  { to, template, data, dedupeKey, accountId, isSentOnce }: QueuedMail<Name>,
): Promise<void> {
  await run(
    db,
    tables
      .insertInto('mails')
      .values({
        ...{ id: newId(), account_id: accountId ?? null, recipient: to, template, data: asJson<unknown>(data) },
        ...{ dedupe_key: dedupeKey ?? null, is_sent_once: isSentOnce ?? false },
      })
      .onConflict((conflict) => conflict.column('dedupe_key').doNothing()),
  );
}

interface QueuedMails<Name extends TemplateName> extends Omit<QueuedMail<Name>, 'to' | 'dedupeKey' | 'accountId'> {
  readonly to: readonly { readonly address: string; readonly dedupeKey: string }[];
}

/** The same mail to many recipients, one mail each, in a single statement. */
export async function queueMails<Name extends TemplateName>(db: Queryable, { to, template, data }: QueuedMails<Name>): Promise<void> {
  await db.query(
    `insert into mails (id, recipient, template, data, dedupe_key)
     select id, address, $1, $2::jsonb, dedupe_key from unnest($3::uuid[], $4::text[], $5::text[]) as new (id, address, dedupe_key)
     on conflict (dedupe_key) do nothing`,
    [
      ...[template, JSON.stringify(data), to.map(() => newId())],
      ...[to.map(({ address }) => address), to.map(({ dedupeKey }) => dedupeKey)],
    ],
  );
}
