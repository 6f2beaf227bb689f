import type { Pool } from 'pg';
import { RedisBooks } from '../adapters/lanes/redis/books.ts';
import { openEpochOf } from '../adapters/lanes/redis/epoch-record.ts';
import { PartitionScripts } from '../adapters/lanes/redis/partition-scripts.ts';
import { ADMIN } from '../kernel/admin-command.ts';
import type { Log } from '../kernel/log.ts';
import { LedgerLaneSource, type Repaired, repairLanes } from '../money/ledger/index.ts';
import type { Closing } from './closing.ts';
import type { Config } from './config.ts';
import { LANES_PREFIX } from './lane-stores.ts';
import { openRedis } from './shared-redis.ts';

interface Deps {
  readonly pool: Pool;
  readonly config: Pick<Config, 'redisUrl'>;
  readonly log: Log;
  readonly closing: Closing;
}

const IN_MEMORY = `The lanes are in the memory of the gateway, which compares them with the ledger every minute and raises those that have less.
They are loaded from the ledger when the gateway starts.`;
const CLOSED = 'The lanes are being loaded anew from the ledger: try again in a moment.';

/**
 * Compares the lanes in Redis with the ledger and raises those that have less, as the gateways do every minute.
 * @param isToLower sets those that have more to the ledger too
 */
export async function reconcileByOperator(
  { pool, config, log, closing }: Deps,
  isToLower: boolean,
): Promise<{ readonly isDone: boolean; readonly said: string }> {
  if (config.redisUrl === undefined) return { isDone: true, said: IN_MEMORY };
  const epoch = await openEpochOf(pool);
  if (epoch === undefined) return { isDone: false, said: CLOSED };
  const { prompt: redis } = await openRedis(config.redisUrl, log, closing);
  let isLost = false;
  const epochs = {
    current: () => epoch,
    lost: () => {
      isLost = true;
    },
  };
  const books = new RedisBooks(new PartitionScripts({ redis, prefix: LANES_PREFIX, epochs }));
  try {
    const repaired = await repairLanes(books, new LedgerLaneSource(pool), isToLower);
    const { inStreams, held, inDoubt } = await books.onTheWay();
    const way = `On their way to the ledger: ${inStreams} settlements and ceilings, ${held} running holds, ${inDoubt} holds in doubt.`;
    return { isDone: repaired.left.length === 0, said: `${textOf(repaired)}\n${way}` };
  } catch (error) {
    if (!isLost) throw error;
    return { isDone: false, said: `Redis has lost something. ${CLOSED}` };
  }
}

function textOf({ mended, left }: Repaired): string {
  const line = ({ laneId, unit, inLane, inLedger }: Repaired['left'][number], what: string) =>
    `${laneId}\t${unit}\tlane ${inLane}, ledger ${inLedger}: ${what}`;
  const lines = [
    ...mended.map((one) => line(one, one.inLedger > one.inLane ? 'raised' : 'lowered')),
    ...left.map((one) => line(one, one.inLedger > one.inLane ? 'it is changing, look again' : HAS_MORE)),
  ];
  return lines.length === 0 ? 'Every lane has what the ledger has.' : lines.join('\n');
}

const HAS_MORE = `it has more, and refuses too early. A settlement may wait in a quarantine; where none does, \`${ADMIN} reconcile lower\` sets it to the ledger`;
