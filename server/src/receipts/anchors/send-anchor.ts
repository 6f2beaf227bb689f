import { consistencyRanges } from '@tallygate/receipts';
import { AnchorRefused, type NextState, type Terms } from '../../adapters/chain/port.ts';
import { readRanges } from '../log/stored-tree.ts';
import type { Anchor, AnchorTransaction } from './anchor.ts';
import { markSubmitted, markSuperseded, recordTransaction, reissue, transactionsOf } from './anchor-rows.ts';
import { AnchoringFault, type AnchorStep } from './anchoring.ts';
import { firstFees, raisedFees } from './fees.ts';

/** What the chain charges for a state varies with the state that it follows: so much more than was estimated is offered. */
const GAS_NUMERATOR = 13n;
const GAS_DENOMINATOR = 10n;

/**
 * Brings an anchor that stands in no block on its way: for the first time, again as it was, or at a higher fee. It is written down before it is
 * sent, so whoever is killed in between leaves a transaction that the next one knows of and repeats.
 *
 * @param nextNonce of the account, as it was before anybody looked whether the anchor stands in a block
 * @throws AnchoringFault where the contract refuses the state
 */
export async function sendAnchor(anchor: Anchor, nextNonce: number, step: AnchorStep): Promise<void> {
  const { chain, session, log } = step;
  const newest = await chain.newest();
  if (newest && newest.size >= anchor.size) {
    log.warn(
      { anchor: anchor.id, size: anchor.size, newest: newest.size },
      'a later state of the log is on the chain: this one is left out',
    );
    return markSuperseded(session, anchor);
  }
  const placed = await placedAfter(newest?.size ?? 0, anchor, nextNonce, step);
  const [last] = await transactionsOf(session, anchor.id);
  const transaction = await transactionFor(placed, placed === anchor ? last : undefined, last, step);
  const taken = await chain.broadcast(transaction.raw);
  if (taken === 'accepted' && anchor.state === 'logged') await markSubmitted(session, anchor, new Date(step.clock.now()));
}

/** As it was sent last: nothing of it can change before the one ahead of it stands in a block. */
export async function repeatAnchor(anchor: Anchor, { chain, session }: AnchorStep): Promise<void> {
  const [last] = await transactionsOf(session, anchor.id);
  if (last) await chain.broadcast(last.raw);
}

/**
 * The anchor with a place in the account's order that is still to be had, and after the state that the contract holds now. A nonce that was
 * spent on something else, or by another key, will not carry it any more. That it could stand in two blocks is no danger: the contract takes
 * no size twice.
 */
async function placedAfter(previousSize: number, anchor: Anchor, nextNonce: number, step: AnchorStep): Promise<Anchor> {
  const { chain, session } = step;
  const { publisher } = chain;
  const isOurs = anchor.nonce !== null && anchor.publisher === publisher && anchor.nonce >= nextNonce;
  if (isOurs && anchor.previousSize === previousSize && anchor.gasLimit !== null) return anchor;
  const nonce = isOurs && anchor.nonce !== null ? anchor.nonce : nextNonce;
  const gasLimit = await gasFor({ ...anchor, previousSize }, step);
  const place = { publisher, nonce, gasLimit, previousSize };
  await reissue(session, anchor, place);
  return { ...anchor, ...place };
}

/** @param repeated what was sent last, where it may be sent again; @param last what has to be outbid where it waits for the same nonce */
async function transactionFor(
  anchor: Anchor,
  repeated: AnchorTransaction | undefined,
  last: AnchorTransaction | undefined,
  step: AnchorStep,
): Promise<{ raw: string }> {
  const { chain, session, settings, clock, log } = step;
  const now = clock.now();
  if (repeated && now - repeated.recordedAt.getTime() < settings.raiseAfterMs) return repeated;
  const present = await chain.fees();
  const rival = last && last.nonce === anchor.nonce ? last : undefined;
  const fees = rival ? raisedFees(rival, present, settings.maxFeePerGas) : firstFees(present, settings.maxFeePerGas);
  if (!fees) {
    log.warn({ anchor: anchor.id, offered: `${rival?.maxPerGas}` }, 'an anchor waits for lower fees: more than the limit is not offered');
    if (rival) return rival;
  }
  if (!fees || anchor.nonce === null || anchor.gasLimit === null) throw new Error(`Anchor ${anchor.id} has no place on its chain`);
  const terms: Terms = { nonce: anchor.nonce, gasLimit: anchor.gasLimit, fees };
  const signed = await chain.sign(await nextState(anchor, step), terms);
  await recordTransaction(session, anchor.id, { ...signed, terms, now: new Date(now) });
  if (rival) log.info({ anchor: anchor.id, nonce: anchor.nonce, fee: `${fees.maxPerGas}` }, 'an anchor that no block took pays more');
  return signed;
}

async function gasFor(anchor: Anchor, step: AnchorStep): Promise<bigint> {
  try {
    return ((await step.chain.estimate(await nextState(anchor, step))) * GAS_NUMERATOR) / GAS_DENOMINATOR;
  } catch (error) {
    if (error instanceof AnchorRefused) throw new AnchoringFault(error.message, { cause: error });
    throw error;
  }
}

async function nextState({ size, root, previousSize }: Anchor, { pool }: AnchorStep): Promise<NextState> {
  return { size, root, path: await readRanges(pool, consistencyRanges(previousSize, size)) };
}
