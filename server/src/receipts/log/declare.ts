import { hash } from 'node:crypto';
import { canonicalJson, type Declaration, declarationInput, type PriceEntry, type Undeclared } from '@tallygate/receipts';
import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { anyOf, rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import type { OwnKeys } from '../own-keys.ts';
import { tables } from '../tables.ts';
import { DeclarationChain } from './declaration-chain.ts';
import { growLog, type HeldLog, holdLog, lockLog } from './grow-log.ts';
import type { KeptState } from './kept-state.ts';
import { undeclaredKeys } from './key-declarations.ts';
import { LogStop, stopLog } from './log-stops.ts';
import { type LogPolicy, undeclaredPolicy } from './policy.ts';

/** Which price: a version stands for one price of a model permanently. */
export const priceSubject = (model: string, version: string): string => `${model}\n${version}`;

/** What is declared more than once is looked for by its subject: the last one counts. */
function subjectOf(declaration: Declaration): string {
  if (declaration.kind === 'price') return priceSubject(declaration.model, declaration.price_version);
  return declaration.kind === 'policy' ? '' : declaration.kid;
}

export const digestOfDeclaration = (declaration: Declaration): Buffer => hash('sha256', declarationInput(declaration), 'buffer');

/** Writes down what the next entries of the log are. @returns the entries, with which whoever holds the log has to let it grow first of all */
export async function declareHeld(client: PoolClient, log: HeldLog, declarations: readonly Declaration[]): Promise<Buffer[]> {
  const digests = declarations.map(digestOfDeclaration);
  if (digests.length > 0)
    await client.query(
      `insert into log_declarations (log_index, kind, subject, digest, declaration)
       select $1::bigint + place - 1, kind, subject, digest, declaration
         from unnest($2::text[], $3::text[], $4::bytea[], $5::text[]) with ordinality as made (kind, subject, digest, declaration, place)`,
      [log.size, declarations.map(({ kind }) => kind), declarations.map(subjectOf), digests, declarations.map(canonicalJson)],
    );
  return digests;
}

export interface DeclaringDeps {
  readonly pool: Pool;
  readonly own: OwnKeys;
  readonly kept: KeptState;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes entries of the log of what is about to be used. */
export class Declaring {
  readonly #deps: DeclaringDeps;

  constructor(deps: DeclaringDeps) {
    this.#deps = deps;
  }

  /**
   * In the transaction that writes what is declared: nobody sees it before it stands in the log.
   *
   * @returns to be called once that transaction is committed
   * @throws Problem `store_unavailable` while the log is stopped, or where it has to be
   */
  async within(client: PoolClient, declarations: readonly Undeclared[]): Promise<() => Promise<void>> {
    if (declarations.length === 0) return async () => {};
    const chain = await chainHeld(client);
    return this.#append(
      client,
      declarations.map((declaration) => chain.link(declaration)),
    );
  }

  async #append(client: PoolClient, declarations: readonly Declaration[]): Promise<() => Promise<void>> {
    if (declarations.length === 0) return async () => {};
    const { pool, own, kept, clock, log } = this.#deps;
    const keys = own.checkpoint;
    const locked = await lockLog(client);
    if (!locked) throw new Problem('store_unavailable', STOPPED);
    try {
      const held = await holdLog(client, locked, { keys, kept });
      const { note } = await growLog(client, held, await declareHeld(client, held, declarations), { keys, clock });
      return () => kept.keep(note);
    } catch (error) {
      if (!(error instanceof LogStop)) throw error;
      await stopLog({ pool, clock, log }, [{ reason: error.message, seen: error.seen }]);
      throw new Problem('store_unavailable', STOPPED);
    }
  }

  /** What this gateway is started with: its keys, and by which rules it keeps the log. Said in the log where it does not stand there. */
  async ownKeysAnd(policy: LogPolicy): Promise<void> {
    const { pool, own, clock, log } = this.#deps;
    try {
      const keep = await inTransaction(pool, async (client) => {
        const now = clock.now();
        const chain = await chainHeld(client);
        const keys = await undeclaredKeys(client, { own, now, chain });
        const rules = await undeclaredPolicy(client, policy, now);
        return this.#append(client, [...keys, ...rules.map((one) => chain.link(one))]);
      });
      await keep();
    } catch (error) {
      // Requests go on while the log is stopped; what is missing is declared when it goes on.
      if (!(error instanceof Problem)) throw error;
      log.error('the keys of this gateway could not be declared in the log, which is stopped');
    }
  }
}

/** Nobody else links meanwhile. */
async function chainHeld(client: PoolClient): Promise<DeclarationChain> {
  await client.query('select from receipt_log for update');
  return DeclarationChain.open(client);
}

const STOPPED =
  'The log of receipts is stopped, and no price is charged that does not stand in it. Resume the log (docs/guides/receipts.md, "When the log stops"), then set the price.';

/** The entries of prices, kept in memory: an entry never changes. */
export class PriceEntries {
  readonly #known = new Map<string, PriceEntry>();

  /** @returns by {@link priceSubject}; those that were never declared are missing */
  async of(db: Pool | PoolClient, subjects: readonly string[]): Promise<ReadonlyMap<string, PriceEntry>> {
    const unknown = [...new Set(subjects)].filter((subject) => !this.#known.has(subject));
    if (unknown.length > 0) {
      const first = tables
        .selectFrom('log_declarations')
        .distinctOn('subject')
        .select(['subject', 'log_index', 'digest'])
        .where('kind', '=', 'price')
        .where('subject', '=', anyOf(unknown));
      const rows = await rowsOf(db, first.orderBy('subject').orderBy('log_index'));
      for (const { subject, log_index: index, digest } of rows)
        this.#known.set(subject, { index: Number(index), digest: digest.toString('hex') });
    }
    return this.#known;
  }
}
