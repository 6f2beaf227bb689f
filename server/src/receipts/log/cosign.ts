import { consistencyRanges, type NoteKey, noteKeyId, parseNote, signatureLine, signersOf } from '@tallygate/receipts';
import type { Pool } from 'pg';
import type { Witness, WitnessAnswer } from '../../adapters/witness/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { firstOf } from '../../kernel/statements.ts';
import { allOf, type OwnKeys } from '../own-keys.ts';
import { ownRecords, strikeOut } from '../own-records.ts';
import { tables } from '../tables.ts';
import { stopLog } from './log-stops.ts';
import { type SignedState, signedState } from './read-log.ts';
import { readRanges } from './stored-tree.ts';

/** A witness, and the key by which it is known. */
export interface KnownWitness {
  readonly key: NoteKey;
  readonly witness: Witness;
}

export interface CosignDeps {
  readonly pool: Pool;
  readonly witnesses: readonly KnownWitness[];
  readonly own: OwnKeys;
  readonly clock: Clock;
  readonly log: Log;
  /** Told after every round whether a witness refuses what the log says. */
  readonly onRefusals: (count: number) => void;
}

/**
 * Submits the newest state of the log to every witness that has not cosigned it yet, and keeps the cosignatures with it. A witness that has seen
 * another log stops this one, until somebody has looked.
 */
export async function cosignLog({ pool, witnesses, own, clock, log, onRefusals }: CosignDeps, signal: AbortSignal): Promise<void> {
  const state = await signedState(pool);
  if (!state) return;
  // Proofs are chosen by the cosignatures of today's witnesses: those of one that was taken off the list do not count.
  await pool.query('delete from receipt_log_witnesses where name <> all ($1)', [witnesses.map(({ key }) => key.name)]);
  const records = await ownRecords(pool, allOf(own));
  const outcomes = await Promise.all(
    witnesses.map(async (known) => {
      const outcome = await cosignBy(pool, known, { state, signal });
      const { name } = known.key;
      const seen = `witness ${name}`;
      if (outcome?.state === 'refused') {
        log.error({ witness: name, reason: outcome.reason }, 'a witness refuses the state of the log');
        const reason = `the witness ${name} refuses the state of ${state.size} entries: ${outcome.reason}`;
        if (outcome.contradicts && !records.has(seen)) await stopLog({ pool, clock, log }, [{ reason, seen }]);
      }
      if (outcome?.state === 'away') log.warn({ witness: name, reason: outcome.reason }, 'a witness cannot be asked');
      // It agrees again: should it ever refuse anew, that is news.
      if (outcome?.state === 'cosigned' && records.has(seen)) await strikeOut(pool, seen);
      return outcome?.state;
    }),
  );
  onRefusals(outcomes.filter((outcome) => outcome === 'refused').length);
}

/** Undefined where there was nothing to ask. */
async function cosignBy(
  pool: Pool,
  { key, witness }: KnownWitness,
  { state, signal }: { state: SignedState; signal: AbortSignal },
): Promise<WitnessAnswer | undefined> {
  const known = await knownSize(pool, key.name);
  if (known === state.size) return undefined;
  const submit = async (oldSize: number): Promise<WitnessAnswer> => {
    if (oldSize > state.size) return moreThanThereIs(pool, oldSize);
    const path = await readRanges(pool, consistencyRanges(oldSize, state.size));
    return witness.submit({ oldSize, path, note: state.note }, signal);
  };
  let answer = await submit(Math.min(known, state.size));
  const [first] = answer.state === 'stale' ? [answer.size] : [];
  if (first !== undefined) answer = await submit(first);
  if (answer.state === 'stale' && answer.size !== first) return { state: 'away', reason: 'somebody else submits to it at this moment' };
  // Told the size it wants, it still does not agree: then the roots differ.
  if (answer.state === 'stale') return { state: 'refused', reason: `it keeps another state of ${answer.size} entries`, contradicts: true };
  if (answer.state !== 'cosigned') return answer;
  const line = cosignatureIn(answer.lines, state.note, key);
  if (line === undefined) return { state: 'refused', reason: 'its cosignature does not hold', contradicts: false };
  await keep(pool, { name: key.name, size: state.size, line });
  return answer;
}

/** A witness that has seen more than there is has seen another log, or this one before it was put back; or another process was faster. */
async function moreThanThereIs(pool: Pool, seen: number): Promise<WitnessAnswer> {
  const size = (await signedState(pool))?.size ?? 0;
  return size >= seen
    ? { state: 'away', reason: 'it was shown a newer state meanwhile' }
    : { state: 'refused', reason: `it has seen ${seen} entries, which is more than there are`, contradicts: true };
}

async function knownSize(pool: Pool, name: string): Promise<number> {
  const witness = tables.selectFrom('receipt_log_witnesses').select('size').where('name', '=', name);
  return Number((await firstOf(pool, witness))?.size ?? 0);
}

/** The line of this witness's key among those it answered, written anew; undefined where it does not hold. */
function cosignatureIn(lines: string, note: string, key: NoteKey): string | undefined {
  const own = note.slice(0, note.indexOf('\n\n') + 2);
  const answered = parseNote(`${own}${lines}`);
  if (!answered || !signersOf(answered, [key])?.length) return undefined;
  const id = Buffer.from(noteKeyId(key));
  const found = answered.signatures.find((signature) => signature.name === key.name && id.equals(signature.keyId));
  return found && signatureLine(key, found.signature);
}

/** Once for each witness, however often it was asked. */
async function keep(pool: Pool, { name, size, line }: { name: string; size: number; line: string }): Promise<void> {
  await pool.query(
    `with cosigned as (
       update receipt_log_checkpoints set note = note || $3, cosignatures = cosignatures + 1
        where size = $2 and position($4 in note) = 0)
     insert into receipt_log_witnesses (name, size) values ($1, $2)
     on conflict (name) do update set size = greatest(receipt_log_witnesses.size, excluded.size)`,
    [name, size, line, `\n— ${name} `],
  );
}
