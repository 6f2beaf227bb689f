import type { PoolClient } from 'pg';
import type { LogState } from '../../adapters/chain/port.ts';
import { newId } from '../../kernel/ids.ts';
import { firstOf } from '../../kernel/statements.ts';
import { inSnapshotOf } from '../../kernel/transaction.ts';
import { ownNewestState, readLogRow } from '../log/own-state.ts';
import { readRanges } from '../log/stored-tree.ts';
import type { SigningKey } from '../signing-keys.ts';
import { tables } from '../tables.ts';
import type { Anchor } from './anchor.ts';
import { anchorsAt, insertAnchor, selectAnchors } from './anchor-rows.ts';
import { AnchoringFault, type AnchorStep } from './anchoring.ts';

/**
 * The state of the log that is to be anchored now, if it is time, as it was signed. Only our own books are looked at: a log that rests costs the
 * node nothing.
 *
 * @throws LogStop where it is not what was signed
 */
export async function dueState({ pool, session, chain, settings, logKeys, clock }: AnchorStep): Promise<LogState | undefined> {
  const now = clock.now();
  const { rows } = await pool.query(
    `with last as (
       select coalesce(max(tree_size), 0) as size, max(created_at) as at from anchors
       where chain_id = $1 and contract = $2 and state <> 'superseded')
     select from receipt_log, last
     where receipt_log.size > last.size
       and (last.at is null or last.at <= $3
         or exists (select from receipts where anchor_wished and log_index >= last.size and issued_at <= $4))`,
    [chain.chainId, chain.contract, new Date(now - settings.everyMs), new Date(now - settings.wishedWithinMs)],
  );
  return rows.length === 0 ? undefined : signedNow(session, logKeys);
}

/** Of one moment: the log grows meanwhile. */
const signedNow = (session: PoolClient, logKeys: readonly SigningKey[]): Promise<LogState | undefined> =>
  inSnapshotOf(session, async () => {
    const state = await ownNewestState(session, await readLogRow(session), logKeys);
    return state && { size: state.size, root: Buffer.from(state.root) };
  });

/**
 * Writes down that a state is to be anchored, or that the contract holds one that is not in our books. What follows, the signing and the
 * sending, is as for an anchor whose sender was killed.
 *
 * @throws AnchoringFault where the contract holds what never was a state of this log
 */
export async function beginAnchor(due: LogState, step: AnchorStep): Promise<void> {
  const { chain, session, clock } = step;
  const held = await chain.newest();
  if (held) await mustBeOurs(held, step);
  const begun: Omit<Anchor, 'id' | 'size' | 'root' | 'previousSize'> = {
    ...{ chainId: chain.chainId, contract: chain.contract, state: 'logged', publisher: chain.publisher },
    ...{ nonce: null, gasLimit: null, inclusion: null },
    ...{ createdAt: new Date(clock.now()), submittedAt: null, includedAt: null, finalizedAt: null },
  };
  if (held && !(await isKnown(held, step))) {
    step.log.warn({ size: held.size }, 'the contract holds a state of the log that is not in the books: it is taken over');
    await insertAnchor(session, { ...begun, id: newId(), ...held, previousSize: await sizeBefore(held, step) });
  }
  if (!held || held.size < due.size) await insertAnchor(session, { ...begun, id: newId(), ...due, previousSize: held?.size ?? 0 });
}

/** A contract that follows another log, or a log that has lost entries: whatever is sent would be refused, or would be a second history. */
async function mustBeOurs({ size, root }: LogState, { pool, chain }: AnchorStep): Promise<void> {
  const log = await firstOf(pool, tables.selectFrom('receipt_log').select('size'));
  const [own] = Number(log?.size ?? 0) < size ? [] : await readRanges(pool, [{ start: 0, end: size }]);
  if (!own || !Buffer.from(own).equals(root))
    throw new AnchoringFault(`The contract ${chain.contract} holds a state of ${size} entries that this log never had`);
}

const isKnown = async ({ size }: LogState, { session, chain }: AnchorStep): Promise<boolean> =>
  (await selectAnchors(session, anchorsAt(chain).where('tree_size', '=', BigInt(size)))).length > 0;

async function sizeBefore({ size }: LogState, { session, chain }: AnchorStep): Promise<number> {
  const smaller = anchorsAt(chain).where('tree_size', '<', BigInt(size)).where('state', '<>', 'superseded');
  const [before] = await selectAnchors(session, smaller.orderBy('tree_size', 'desc').limit(1));
  return before?.size ?? 0;
}
