import type { MarketingEmailBounceResponse } from '@tallygate/contract';
import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { firstOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { recordBouncedAddress } from '../people/index.ts';
import { kindOf, type Told } from './bounce-kind.ts';
import { type DeliveryReport, readDeliveryReport } from './delivery-report.ts';
import { noteSoftBounce, takeOfInvitation } from './invitation-bounces.ts';
import type { ReturnPaths } from './return-paths.ts';
import { tables } from './tables.ts';
import type { Unsubscribing } from './unsubscribing.ts';

interface BouncesDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly unsubscribing: Unsubscribing;
  /** Undefined where no address for bounces is configured: then the bounced mail identifies the recipient. */
  readonly returnPaths: ReturnPaths | undefined;
}

interface Bounced {
  readonly recipient_id: string;
  readonly email_id: string;
  readonly address: string;
  readonly state: MarketingEmailBounceResponse['state'];
  readonly is_test: boolean;
}

/**
 * Processes the reports of mail servers about accepted mails. A signed address or a signed link proves the recipient, so that
 * nobody can suppress an address whose mails they have not seen.
 * @throws Problem `validation_failed` for input that is not a delivery report, or not of a mail of ours
 */
export const createBounces =
  ({ pool, clock, unsubscribing, returnPaths }: BouncesDeps) =>
  async (message: Buffer): Promise<MarketingEmailBounceResponse> => {
    const report = await readDeliveryReport(message);
    if (!report) throw refused('must be a report of a delivery that failed or is late (multipart/report, RFC 3464)', 'no_report');
    const recipientId = (await returnPaths?.recipientIn(report.envelope)) ?? (await recipientInLink(unsubscribing, report.returned));
    if (recipientId === undefined) throw unknown();
    return inTransaction(pool, async (client) => {
      const row = await firstOf(
        client,
        tables
          .selectFrom('email_recipients as r')
          .innerJoin('emails as e', 'e.email_id', 'r.email_id')
          .select((eb) => ['r.recipient_id', 'r.email_id', eb.ref('r.address').$notNull().as('address'), 'r.state', 'e.is_test'] as const)
          .where('r.recipient_id', '=', recipientId)
          .where('r.address', 'is not', null)
          .forUpdate('r'),
      );
      const told = { report, at: new Date(clock.now()) };
      // A mail that was never sent cannot bounce.
      const answer = row ? DELIVERED.has(row.state) && (await take(client, row, told)) : await takeOfInvitation(client, recipientId, told);
      if (!answer) throw unknown();
      return answer;
    });
  };

const DELIVERED: ReadonlySet<string> = new Set(['sent', 'unconfirmed', 'handing_over', 'bounced', 'rejected', 'failed']);

/** Mails end with it, and headers of a returned one have it too; lines are folded and encoded as mail servers please. */
async function recipientInLink({ recipientOf }: Unsubscribing, returned: string): Promise<string | undefined> {
  const unfolded = returned.replaceAll(/=\r?\n|\r?\n[ \t]+/g, '').replaceAll('=3D', '=');
  for (const [, token = ''] of unfolded.matchAll(/\/unsubscribe\?token=([\w-]{43})(?![\w-])/g)) {
    const recipientId = await recipientOf(token);
    if (recipientId !== undefined) return recipientId;
  }
  return undefined;
}

async function take(client: PoolClient, row: Bounced, { report, at }: Told): Promise<MarketingEmailBounceResponse> {
  const { status, diagnostic } = report;
  const kind = kindOf(report);
  const state = stateAfter(row, report);
  const error = `${status} ${diagnostic ?? report.action}`;
  const answer = { recipient_id: row.recipient_id, email_id: row.email_id, invite_id: null, kind, status, state, changed: false };
  // A report that comes twice, and one that comes after the address was given up, say nothing new.
  if (row.state === 'bounced' || (row.state === state && kind === 'soft' && state !== 'sent' && state !== 'unconfirmed'))
    return { ...answer, state: row.state };
  if (kind === 'hard' && !row.is_test) await recordBounce(client, { ...row, error, at });
  else {
    await client.query('update email_recipients set state = $2, last_error = $3, at = $4 where recipient_id = $1', [
      ...[row.recipient_id, state, error, at],
    ]);
    await noteSoftBounce(client, { ...row, error, at });
  }
  return { ...answer, changed: true };
}

function stateAfter({ state, is_test }: Bounced, report: DeliveryReport): Bounced['state'] {
  if (report.action === 'delayed') return state;
  if (kindOf(report) === 'hard' && !is_test) return 'bounced';
  return report.status.startsWith('5') ? 'rejected' : 'failed';
}

interface Bounce {
  readonly recipient_id: string;
  readonly address: string;
  readonly error: string;
  readonly at: Date;
}

/** In the caller's transaction. */
export async function recordBounce(client: PoolClient, { recipient_id, address, error, at }: Bounce): Promise<void> {
  await client.query("update email_recipients set state = 'bounced', last_error = $2, at = $3 where recipient_id = $1", [
    ...[recipient_id, error, at],
  ]);
  await recordBouncedAddress(client, { address, error, at });
}

const refused = (msg: string, type: string) => invalidInput([{ loc: ['body'], msg, type }]);

const unknown = () => refused('must be about a mail that this service has sent: it names none, or was made up', 'unknown_mail');
