import type { Pool } from 'pg';
import type { Identity } from '../../access/identity/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { queueMail } from '../../mail/index.ts';
import { confirmConsent, consentsToAsk, standOfConsent } from '../people/index.ts';

const AT_ONCE = 100;
/** The subject of a link in such a mail: never equal to the subject of another mail's link. */
const REFERENCE = /^consent:([0-9a-f-]{36})$/;

interface ConsentsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly openReference: Identity['openReference'];
}

/** Forms are open to everybody, so each consent is asked of the address's reader by mail: only their answer counts. */
export function createConsents({ pool, clock, openReference }: ConsentsDeps) {
  const consentOf = (token: string): string | undefined => REFERENCE.exec(openReference(token) ?? '')?.[1];
  return {
    /** Queues the mails that ask. Run twice, or by two at once, each person is asked once. */
    async askDue(signal?: AbortSignal): Promise<void> {
      const askSome = async (): Promise<number> =>
        inTransaction(pool, async (client) => {
          const unasked = await consentsToAsk(client, { most: AT_ONCE, at: new Date(clock.now()) });
          for (const { consent_id, email, consent_source } of unasked)
            await queueMail(client, {
              ...{ to: email, template: 'confirm-consent', dedupeKey: `consent:${consent_id}` },
              data: { reference: `consent:${consent_id}`, source: consent_source },
            });
          return unasked.length;
        });
      while (!signal?.aborted && (await askSome()) === AT_ONCE);
    },

    /** The state of the link with this token, if it can be answered or was. */
    async standOf(token: string): ReturnType<typeof standOfConsent> {
      const consentId = consentOf(token);
      return consentId === undefined ? undefined : standOfConsent(pool, consentId, new Date(clock.now()));
    },

    /** Once or often comes to the same. @returns false for a link that cannot be answered any more */
    async confirm(token: string): Promise<boolean> {
      const consentId = consentOf(token);
      return consentId !== undefined && inTransaction(pool, (client) => confirmConsent(client, consentId, new Date(clock.now())));
    },
  };
}

export type Consents = ReturnType<typeof createConsents>;
