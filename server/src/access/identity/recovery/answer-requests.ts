import type { EntityManager } from '@mikro-orm/postgresql';
import type { Clock } from '../../../kernel/clock.ts';
import type { SecretBox } from '../../../kernel/secret-box.ts';
import { firstOf, inUnit } from '../../../kernel/statements.ts';
import { inUnitOfWork } from '../../../kernel/transaction.ts';
import { mailToken } from '../notices.ts';
import { tables } from '../tables.ts';
import type { User } from '../user.ts';
import { findByEmail, lockUser } from '../users.ts';
import { mailClaim } from './mail-claim.ts';
import { dropMailTokensToOthers, MIN_INTERVAL_MS, mintMailToken, type Proof, type Purpose, wasMintedSince } from './mail-tokens.ts';

interface MailRequest {
  readonly id: string;
  readonly purpose: Purpose;
  readonly email: string;
  /** Set where a signed-in user wants this to be their address; else the address is all that is known. */
  readonly user_id: string | null;
}

interface AnswerRequestsDeps {
  readonly em: EntityManager;
  readonly box: SecretBox;
  readonly clock: Clock;
}

/** SQL: whether a request waits for {@link answerMailRequests}. */
export const MAIL_REQUESTS_DUE = 'exists (select from mail_requests)';

/** Turns what was asked for into mails, where there is somebody to mail to. Resolves when nothing waits. */
export async function answerMailRequests({ em, box, clock }: AnswerRequestsDeps, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted && (await inUnitOfWork(em, (unit) => answerNext(unit, box, new Date(clock.now())))));
}

async function answerNext(unit: EntityManager, box: SecretBox, now: Date): Promise<boolean> {
  const request = await firstOf(
    inUnit(unit),
    tables
      .deleteFrom('mail_requests')
      .where('id', '=', (eb) => eb.selectFrom('mail_requests').select('id').orderBy('id').limit(1).forUpdate().skipLocked())
      .returning(['id', 'purpose', 'email', 'user_id']),
  );
  if (!request) return false;
  const user = await addressee(unit, request);
  if (user) await answer(unit, user, request, box, now);
  return true;
}

async function answer(unit: EntityManager, user: User, request: MailRequest, box: SecretBox, now: Date): Promise<void> {
  // Confirming would not do any more.
  const isClaim = request.purpose === 'verify-email' && user.isToBeClaimed(request.email);
  const purpose = isClaim ? 'reset-password' : request.purpose;
  // The address as it is on record: two that differ in case may be two mailboxes.
  const proof: Proof = { userId: user.id, email: request.user_id === null ? user.email : request.email };
  if (await wasMintedSince(unit, purpose, proof, new Date(now.getTime() - MIN_INTERVAL_MS))) return;
  if (isClaim) return mailClaim(unit, user, { template: 'take-over-account', box, now });
  if (request.user_id !== null) await dropMailTokensToOthers(unit, proof);
  const token = await mintMailToken(unit, purpose, proof, now);
  await mailToken(inUnit(unit), purpose, { to: proof.email, accountId: user.account.id, token, box });
}

/** Whom a mail should go to, if anybody. */
async function addressee(unit: EntityManager, { purpose, email, user_id }: MailRequest): Promise<User | undefined> {
  const holder = await findByEmail(unit, email);
  if (user_id !== null) {
    const isFree = !holder || holder.id === user_id;
    return isFree ? lockUser(unit, user_id) : undefined;
  }
  if (purpose === 'verify-email' && holder?.emailVerifiedAt) return undefined;
  return holder && lockUser(unit, holder.id);
}
