import * as z from 'zod';
import { checkedRows, type Queryable } from '../../kernel/statements.ts';
import { queueMail, type TemplateData } from '../../mail/index.ts';

interface Told {
  readonly accountId: string;
  /** Names the lane and the threshold: nobody is told of one twice. */
  readonly about: string;
  readonly data: TemplateData<'limit-alert'>;
}

const Recipient = z.object({ id: z.string(), email: z.string() });

/** Mails those who answer for the account's money. */
export async function mailLimitAlert(db: Queryable, { accountId, about, data }: Told): Promise<void> {
  const people = await checkedRows(
    db,
    Recipient,
    `select id, email from users where account_id = $1 and closed_at is null and account_role in ('owner', 'admin', 'billing')`,
    [accountId],
  );
  for (const { id, email } of people)
    await queueMail(db, { to: email, accountId, template: 'limit-alert', data, dedupeKey: `${about}:${id}` });
}
