import { type SqlBool, sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { idSigned, signedId } from '../../kernel/signed-id.ts';
import { firstOf, rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { addressInvited } from '../invites/index.ts';
import { noteInHistory, suppress } from '../people/index.ts';
import { createEmailSecret } from './email-secret.ts';
import { tables } from './tables.ts';

const PROOF_BYTES = 16;

/** The unsubscribe links: signed, so that nobody can unsubscribe others; they never expire. */
export interface Unsubscribing {
  /** The token of a mail's link, by the id of its recipient or of its invitation. */
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
        // Without an address the person was erased, and gets nothing anyway.
        const mail = await mailTo(client, recipientId);
        if (!mail) return;
        const people = await rowsOf(
          client,
          tables
            .updateTable('people')
            .set({ unsubscribed_at: at, updated_at: at })
            .where('unsubscribed_at', 'is', null)
            .where(sql<SqlBool>`(email = ${mail.address} or (other_emails <> '{}' and other_emails @> array[${mail.address}]))`)
            .returning(['person_id', 'email', 'other_emails']),
        );
        const emails = [mail.address, ...people.flatMap(({ email, other_emails }) => [email, ...other_emails])];
        await suppress(client, { emails: [...new Set(emails)], reason: 'unsubscribed', at });
        for (const { person_id: personId } of people)
          await noteInHistory(client, {
            ...{ personId, action: 'unsubscribe', at, detail: mail.detail },
            actor: { kind: 'system', id: null },
          });
      });
      return true;
    },
  };
}

/** The mail whose link was used to unsubscribe. */
interface AnsweredMail {
  readonly address: string;
  /** For the history of the person. */
  readonly detail: Readonly<Record<string, string>>;
}

async function mailTo(client: PoolClient, id: string): Promise<AnsweredMail | undefined> {
  const recipient = await firstOf(
    client,
    tables.selectFrom('email_recipients').select(['address', 'email_id']).where('recipient_id', '=', id),
  );
  if (recipient) return recipient.address === null ? undefined : { address: recipient.address, detail: { email_id: recipient.email_id } };
  const invited = await addressInvited(client, id);
  return invited === undefined ? undefined : { address: invited, detail: { invite_id: id } };
}
