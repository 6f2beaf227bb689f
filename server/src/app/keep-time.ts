import type { Pool } from 'pg';
import * as z from 'zod';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { checkedRow } from '../kernel/statements.ts';
import { SteadyClock } from '../kernel/steady-clock.ts';
import { newestStateAt } from '../receipts/index.ts';
import type { Closing } from './closing.ts';
import type { Config } from './config.ts';
import type { AuthorityLink } from './workers/authority-link.ts';

const LOOK_MS = 60_000;
const TOLD_SECONDS = 10;

/** Clocks of one database differ by less. */
const BEHIND_SECONDS = 600;
const AHEAD_SECONDS = 31 * 86_400;

const Time = z.object({ ms: z.number() });

interface KeepTimeDeps {
  readonly clock: Clock;
  readonly config: Pick<Config, 'databaseUrl'>;
  readonly closing: Closing;
  readonly log: Log;
  readonly authority: AuthorityLink | undefined;
}

/**
 * Gateways of one database go by its clock, workers by that of their authority. The embedded one has the clock of this machine.
 * @returns by how much the time of day, or the database's clock, is ahead of the process's
 */
export async function keepTime({ clock, config, closing, log, authority }: KeepTimeDeps, pool: Pool): Promise<() => number> {
  if (!(clock instanceof SteadyClock)) return () => 0;
  const timeOfReference = async (): Promise<number> => {
    if (authority) return authority.calls.call('now');
    const time = await checkedRow(pool, Time, 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms');
    return time?.ms ?? clock.now();
  };
  const isShared = config.databaseUrl !== undefined || authority !== undefined;
  if (isShared) clock.set(await timeOfReference());
  tellOfLog(clock.now(), (await newestStateAt(pool))?.getTime(), log);
  closing.every(LOOK_MS, 'look at the clock', async () => {
    if (isShared) clock.compare(await timeOfReference());
    const seconds = Math.round(clock.differenceMs / 1_000);
    if (Math.abs(seconds) > TOLD_SECONDS)
      log.error({ seconds }, 'the time of day leapt and is not followed: what is due by date goes on as before; start again to take it');
  });
  return () => clock.differenceMs;
}

/**
 * Which of both is wrong nobody can tell here: the clock may have been right when the log was written, or now. So the gateway serves, in the month
 * that it is told; what cannot be taken back, such as to archive a month, does not go by the clock alone.
 */
function tellOfLog(now: number, newest: number | undefined, log: Log): void {
  if (newest === undefined) return;
  const seconds = Math.round((now - newest) / 1_000);
  if (seconds < -BEHIND_SECONDS)
    log.error({ seconds }, 'the clock is behind the newest state of the log: one of them was made with a wrong clock');
  if (seconds > AHEAD_SECONDS) log.warn({ seconds }, 'the newest state of the log is more than a month old: is the clock right?');
}
