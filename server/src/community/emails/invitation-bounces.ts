import type { MarketingEmailBounceResponse } from '@tallygate/contract';
import type { PoolClient } from 'pg';
import { rowsOf } from '../../kernel/statements.ts';
import { failInvitation, mailedInvitation } from '../invites/index.ts';
import { noteInHistory, recordBouncedAddress } from '../people/index.ts';
import { kindOf, type Told } from './bounce-kind.ts';
import { tables } from './tables.ts';

/** A report about an invitation, which has the same signed link as a marketing mail. @returns undefined if no invitation with this id was mailed */
export async function takeOfInvitation(
  client: PoolClient,
  inviteId: string,
  { report, at }: Told,
): Promise<MarketingEmailBounceResponse | undefined> {
  const invitation = await mailedInvitation(client, inviteId);
  if (!invitation) return undefined;
  const { status, diagnostic, action } = report;
  const { address } = invitation;
  const kind = kindOf(report);
  const error = `${status} ${diagnostic ?? action}`;
  const state = action === 'delayed' ? invitation.status : 'failed';
  const answer = { recipient_id: null, email_id: null, invite_id: inviteId, kind, status, state, changed: false } as const;
  // A report that comes twice, and one that is late and comes after the end, say nothing new.
  if (invitation.status === 'failed' && (action === 'delayed' || invitation.failure === error)) return answer;
  if (action !== 'delayed') await failInvitation(client, inviteId, error);
  if (kind === 'hard') await recordBouncedAddress(client, { address, error, at });
  else await noteSoftBounce(client, { address, error, at });
  return { ...answer, changed: true };
}

/** In the caller's transaction. */
export async function noteSoftBounce(
  client: PoolClient,
  { address, error, at }: { readonly address: string; readonly error: string; readonly at: Date },
): Promise<void> {
  const rows = await rowsOf(client, tables.selectFrom('people').select('person_id').where('email', '=', address));
  for (const { person_id: personId } of rows)
    await noteInHistory(client, {
      ...{ personId, action: 'soft_bounce', at, detail: { error } },
      actor: { kind: 'system', id: null },
    });
}
