import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { idSigned, signedId } from '../../kernel/signed-id.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { addressInvited } from '../invites/index.ts';
import { noteInHistory, suppress } from '../people/index.ts';
import { createEmailSecret } from './email-secret.ts';

const PROOF_BYTES = 16;

/** The links by which whoever got a mail gets no more of them: signed, so that nobody unsubscribes others; they never expire. */
export interface Unsubscribing {
  /** The token of a mail's link, by the id of its recipient, or of the invitation that it brings. */
  tokenOf(recipientId: string): Promise<string>;
  /** The recipient, or the invitation, whose mail carries this token; undefined for one that no mail carries. */
  recipientOf(token: string): Promise<string | undefined>;
  /** Once or often comes to the same. @returns false for a token that no mail carries */
  unsubscribe(token: string): Promise<boolean>;
}

export function createUnsubscribing({ pool, clock }: { readonly pool: Pool; readonly clock: Clock }): Unsubscribing {
  const secret = createEmailSecret(pool);
  const sealed = async () => ({ secret: await secret(), purpose: 'unsubscribe', proofBytes: PROOF_BYTES });
  const recipientOf = async (token: string): Promise<string | undefined> => {
    const bytes = Buffer.from(token, 'base64url');
    return bytes.toString('base64url') === token ? idSigned(bytes, await sealed()) : undefined;
  };

  return {
    tokenOf: async (recipientId) => signedId(recipientId, await sealed()).toString('base64url'),

    recipientOf,

    async unsubscribe(token) {
      const recipientId = await recipientOf(token);
      if (recipientId === undefined) return false;
      const at = new Date(clock.now());
      await inTransaction(pool, async (client) => {
        const execute = (sql: string, values: unknown[]) => client.query(sql, values);
        // Without an address the person was erased, and gets nothing anyway.
        const mail = await mailTo(client, recipientId);
        if (!mail) return;
        const { rows: people } = await client.query<{ person_id: string; email: string; other_emails: string[] }>(
          `update people set unsubscribed_at = $2, updated_at = $2
           where unsubscribed_at is null and (email = $1 or (other_emails <> '{}' and other_emails @> array[$1]))
           returning person_id, email, other_emails`,
          [mail.address, at],
        );
        const emails = [mail.address, ...people.flatMap(({ email, other_emails }) => [email, ...other_emails])];
        await suppress(execute, { emails: [...new Set(emails)], reason: 'unsubscribed', at });
        for (const { person_id: personId } of people)
          await noteInHistory(execute, {
            ...{ personId, action: 'unsubscribe', at, detail: mail.detail },
            actor: { kind: 'system', id: null },
          });
      });
      return true;
    },
  };
}

/** Which mail somebody unsubscribes by. */
interface AnsweredMail {
  readonly address: string;
  /** For the history of the person. */
  readonly detail: Readonly<Record<string, string>>;
}

async function mailTo(client: PoolClient, id: string): Promise<AnsweredMail | undefined> {
  const { rows } = await client.query<{ address: string | null; email_id: string }>(
    'select address, email_id from email_recipients where recipient_id = $1',
    [id],
  );
  if (rows[0]) return rows[0].address === null ? undefined : { address: rows[0].address, detail: { email_id: rows[0].email_id } };
  const invited = await addressInvited(client, id);
  return invited === undefined ? undefined : { address: invited, detail: { invite_id: id } };
}
