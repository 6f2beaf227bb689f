import { hash as digest } from 'node:crypto';
import { type Hash, type LeafRange, nodesOf, rangeHash, type TreeNode } from '@tallygate/receipts';
import { type SqlBool, sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { rowsOf } from '../../kernel/statements.ts';
import { tables } from '../tables.ts';

/** Many times faster than the verifier's own, which needs no platform. */
export const sha256: Hash = (message) => digest('sha256', message, 'buffer');

/** Those of these nodes that are stored. */
export const nodesIn = (nodes: readonly TreeNode[]) =>
  tables
    .selectFrom('receipt_log_nodes')
    .select(['level', 'index', 'hash'])
    .where(
      sql<SqlBool>`(level, index) in (select * from unnest(${nodes.map(({ level }) => level)}::smallint[], ${nodes.map(({ index }) => index)}::bigint[]))`,
    );

/** The hashes of whole subtrees, read in one query. @throws when one is not there: the log is shorter than was asked for */
export async function readNodes(db: Pool | PoolClient, nodes: readonly TreeNode[]): Promise<(node: TreeNode) => Uint8Array> {
  const rows = await rowsOf(db, nodesIn(nodes));
  const byName = new Map(rows.map(({ level, index, hash }) => [nameOf({ level, index: Number(index) }), hash]));
  return (node) => {
    const hash = byName.get(nameOf(node));
    if (!hash) throw new Error(`The log has no node ${nameOf(node)}`);
    return hash;
  };
}

/** The hashes of ranges as proofs need them. */
export async function readRanges(db: Pool | PoolClient, ranges: readonly LeafRange[]): Promise<Uint8Array[]> {
  const hashOf = await readNodes(db, ranges.flatMap(nodesOf));
  return ranges.map((range) => rangeHash(range, hashOf, sha256));
}

export const nameOf = ({ level, index }: TreeNode): string => `${level}/${index}`;
