import { sql } from 'kysely';
import { tables } from './tables.ts';

/** A batch with its counts: of its rows in `batch_lines` while there are any, else as they were written down. */
export const SELECT_BATCHES = tables
  .selectFrom('batches')
  .leftJoinLateral(
    (eb) =>
      eb
        .selectFrom('batch_lines')
        .select([
          sql<bigint>`count(*) filter (where not is_error)`.as('completed'),
          sql<bigint>`count(*) filter (where is_error)`.as('failed'),
          sql<bigint>`coalesce(sum(input_tokens), 0)::bigint`.as('input_tokens'),
          sql<bigint>`coalesce(sum(cached_tokens), 0)::bigint`.as('cached_tokens'),
          sql<bigint>`coalesce(sum(output_tokens), 0)::bigint`.as('output_tokens'),
          sql<bigint>`coalesce(sum(reasoning_tokens), 0)::bigint`.as('reasoning_tokens'),
        ])
        .whereRef('batch_lines.batch_id', '=', 'batches.id')
        .where('state', '<>', 'waiting')
        .where('batches.completed', 'is', null)
        .as('lines'),
    (join) => join.onTrue(),
  )
  .selectAll('batches')
  .select([
    sql<number>`coalesce(batches.completed, lines.completed)::int`.as('completed_lines'),
    sql<number>`coalesce(batches.failed, lines.failed)::int`.as('failed_lines'),
  ])
  // Sums over nothing are one row all the same.
  .select((eb) => [
    eb.ref('lines.input_tokens').$notNull().as('input_tokens'),
    eb.ref('lines.cached_tokens').$notNull().as('cached_tokens'),
    eb.ref('lines.output_tokens').$notNull().as('output_tokens'),
    eb.ref('lines.reasoning_tokens').$notNull().as('reasoning_tokens'),
  ]);
