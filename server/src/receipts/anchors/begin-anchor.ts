import type { LogState } from '../../adapters/chain/port.ts';
import { newId } from '../../kernel/ids.ts';
import { readRanges } from '../log/stored-tree.ts';
import type { Anchor } from './anchor.ts';
import { insertAnchor, selectAnchors } from './anchor-rows.ts';
import { AnchoringFault, type AnchorStep } from './anchoring.ts';

/** The state of the log that is to be anchored now, if it is time. Only our own books are looked at: a log that rests costs the node nothing. */
export async function dueState({ pool, chain, settings, clock }: AnchorStep): Promise<LogState | undefined> {
  const now = clock.now();
  const { rows } = await pool.query<{ size: bigint; root: Buffer }>(
    `with last as (
       select coalesce(max(tree_size), 0) as size, max(created_at) as at from anchors
       where chain_id = $1 and contract = $2 and state <> 'superseded'),
     newest as (select size, root from receipt_log_checkpoints order by size desc limit 1)
     select newest.size, newest.root from newest, last
     where newest.size > last.size
       and (last.at is null or last.at <= $3
         or exists (select from receipts where anchor_wished and log_index >= last.size and issued_at <= $4))`,
    [chain.chainId, chain.contract, new Date(now - settings.everyMs), new Date(now - settings.wishedWithinMs)],
  );
  const [due] = rows;
  return due && { size: Number(due.size), root: due.root };
}

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
  const { rows } = await pool.query<{ size: bigint }>('select size from receipt_log');
  const [own] = Number(rows[0]?.size ?? 0) < size ? [] : await readRanges(pool, [{ start: 0, end: size }]);
  if (!own || !Buffer.from(own).equals(root))
    throw new AnchoringFault(`The contract ${chain.contract} holds a state of ${size} entries that this log never had`);
}

const isKnown = async ({ size }: LogState, { session, chain }: AnchorStep): Promise<boolean> =>
  (await selectAnchors(session, 'chain_id = $1 and contract = $2 and tree_size = $3', [chain.chainId, chain.contract, size])).length > 0;

async function sizeBefore({ size }: LogState, { session, chain }: AnchorStep): Promise<number> {
  const [before] = await selectAnchors(
    session,
    `chain_id = $1 and contract = $2 and tree_size < $3 and state <> 'superseded' order by tree_size desc limit 1`,
    [chain.chainId, chain.contract, size],
  );
  return before?.size ?? 0;
}
