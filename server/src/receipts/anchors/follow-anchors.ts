import type { Inclusion } from '../../adapters/chain/port.ts';
import type { NanoUsd } from '../../kernel/money.ts';
import type { Anchor, AnchorInclusion } from './anchor.ts';
import { markFinalized, markIncluded, markSubmitted, transactionsOf, unfinishedAnchors } from './anchor-rows.ts';
import type { AnchorStep } from './anchoring.ts';
import { repeatAnchor, sendAnchor } from './send-anchor.ts';
import { tellAnchored } from './tell-anchored.ts';

const WEI_PER_COIN = 10n ** 18n;

/**
 * Sees what has become of the anchors on their way, and brings on those that stand in no block: the one whose node forgot it, the one that pays
 * too little, the one whose block the chain took back, and the one whose sender was killed.
 *
 * @returns whether all of them stand in blocks
 */
export async function followAnchors(step: AnchorStep): Promise<boolean> {
  const { chain, session, log, clock } = step;
  const anchors = await unfinishedAnchors(session, chain);
  if (anchors.length === 0) return true;
  // Before the blocks are looked at: a nonce that was spent by then, and by none of ours, will not carry an anchor any more.
  const { nextNonce } = await chain.account();
  let isWaiting = false;
  for (const anchor of anchors) {
    const found = (await ownInclusion(anchor, step)) ?? (await foreignInclusion(anchor, step));
    if (found) {
      await settleAnchor(anchor, found, step);
      continue;
    }
    let waiting = anchor;
    if (anchor.state === 'included') {
      log.warn({ anchor: anchor.id, block: anchor.inclusion?.blockNumber }, 'the chain took back the block of an anchor: it is sent again');
      await markSubmitted(session, anchor, new Date(clock.now()));
      waiting = { ...anchor, state: 'submitted', inclusion: null };
    }
    if (isWaiting) await repeatAnchor(waiting, step);
    else await sendAnchor(waiting, nextNonce, step);
    isWaiting = true;
  }
  return !isWaiting;
}

/** One that was refused in its block has anchored nothing. */
async function ownInclusion(anchor: Anchor, step: AnchorStep): Promise<AnchorInclusion | undefined> {
  for (const { hash } of await transactionsOf(step.session, anchor.id)) {
    const inclusion = await step.chain.inclusionOf(hash);
    if (inclusion?.succeeded) return inclusionOf(hash, inclusion, step);
  }
  return undefined;
}

/** The state got there by a transaction that is not in our books: of a gateway whose database was restored to an older state. */
async function foreignInclusion(anchor: Anchor, step: AnchorStep): Promise<AnchorInclusion | undefined> {
  const hash = await step.chain.transactionOf(anchor);
  const inclusion = hash === undefined ? undefined : await step.chain.inclusionOf(hash);
  return hash !== undefined && inclusion?.succeeded ? inclusionOf(hash, inclusion, step) : undefined;
}

async function settleAnchor(anchor: Anchor, found: AnchorInclusion, { chain, session, clock, log }: AnchorStep): Promise<void> {
  const now = new Date(clock.now());
  const isKnown =
    anchor.state === 'included' && anchor.inclusion?.hash === found.hash && anchor.inclusion.blockNumber === found.blockNumber;
  if (!isKnown) {
    log.info({ anchor: anchor.id, size: anchor.size, block: found.blockNumber, hash: found.hash }, 'the log is anchored');
    await markIncluded(session, anchor, found, now);
  }
  if (found.blockNumber > (await chain.settledBlock())) return;
  await tellAnchored(session, { ...anchor, inclusion: found });
  await markFinalized(session, anchor, now);
}

const inclusionOf = (hash: string, { blockNumber, blockTime, gasUsed, feeWei }: Inclusion, { settings }: AnchorStep): AnchorInclusion => ({
  ...{ hash, blockNumber, blockTime, gasUsed, feeWei },
  feeNanoUsd: settings.coinPrice === undefined ? undefined : inUsd(feeWei, settings.coinPrice),
});

const inUsd = (wei: bigint, coinPrice: NanoUsd): NanoUsd => (wei * coinPrice + WEI_PER_COIN - 1n) / WEI_PER_COIN;
