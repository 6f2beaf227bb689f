import { type Declaration, declarationDigest, type Undeclared } from '@tallygate/receipts';
import type { PoolClient } from 'pg';
import { rowsOf } from '../../kernel/statements.ts';
import { tables } from '../tables.ts';

type Kind = Declaration['kind'];

/**
 * The newest declaration of each kind: the next one names its number and digest, so that none can be left out of the list unseen. Read under the
 * lock of the log: two gateways never give one number twice.
 */
export class DeclarationChain {
  readonly #newest: Map<Kind, Declaration>;

  constructor(newest: Map<Kind, Declaration>) {
    this.#newest = newest;
  }

  /** @param client holds the lock of the log */
  static async open(client: PoolClient): Promise<DeclarationChain> {
    const newest = tables.selectFrom('log_declarations').distinctOn('kind').select(['kind', 'declaration']);
    const rows = await rowsOf(client, newest.orderBy('kind').orderBy('log_index', 'desc'));
    return new DeclarationChain(new Map(rows.map(({ kind, declaration }) => [kind, JSON.parse(declaration)])));
  }

  /** @param finish what is still to be done once it has its place: a signature covers that too */
  link<D extends Declaration>(declaration: Undeclared<D>, finish: (linked: D) => D = (linked) => linked): D {
    const before = this.#newest.get(declaration.kind);
    const place = before
      ? { number: before.number + 1, previous: Buffer.from(declarationDigest(before)).toString('hex') }
      : { number: 1, previous: null };
    const linked = finish({ ...declaration, ...place } as unknown as D);
    this.#newest.set(linked.kind, linked);
    return linked;
  }
}
