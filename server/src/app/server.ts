import { type Clock, steadyMs, systemClock } from '../kernel/clock.ts';
import { restoreFastStringMethods } from '../kernel/fast-string-methods.ts';
import { createLog, flushed } from '../kernel/log.ts';
import { type Bootstrap, bootstrap } from './bootstrap.ts';
import { rereadModels } from './catalog.ts';
import { Closing } from './closing.ts';
import type { Config } from './config.ts';
import type { Process } from './foundation.ts';
import { openFronts } from './fronts.ts';
import { type Addresses, openListeners } from './listeners.ts';
import { openParts, type Parts } from './parts.ts';
import { isTryOut } from './plans.ts';

export interface RunningServer extends Addresses {
  readonly bootstrap: Bootstrap;
  /** Reads again what is read at a SIGHUP: the operator's models. */
  reload(): Promise<void>;
  /** Takes no new requests, lets the running ones end, writes what is settled, and stops. */
  close(): Promise<void>;
}

/**
 * Everything in one process, built in order; what is opened is closed in the opposite order.
 * @param clock of everything that has a date: periods, invoices
 * @param steady of what must not jump with the time of day: rate limits
 * @param authority of a worker: the process that has started it
 */
export async function startServer(
  config: Config,
  onFatal: () => void,
  clock: Clock = systemClock,
  steady: () => number = steadyMs,
  authority?: Process['authority'],
): Promise<RunningServer> {
  restoreFastStringMethods();
  const log = createLog(config.logLevel);
  const closing = new Closing(log);
  closing.add('log', () => flushed(log));
  try {
    // With port 0 it is known once the port is bound.
    let url = config.publicUrl;
    const parts = await openParts({ config, log, clock, steady, closing, onFatal, authority }, () => {
      if (url === undefined) throw new Error('The address is not known before the port is bound');
      return url;
    });
    const addresses = await listen(parts);
    url ??= addresses.url;
    return { ...addresses, ...(await serve(parts, addresses)), close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}

/** Binds the addresses, here or in the workers of this process. */
async function listen(parts: Parts): Promise<Addresses> {
  const { foundation, fleet, readiness, serving } = parts;
  return fleet ? await fleet.start() : await openListeners(openFronts(parts), { ...foundation, readiness, inference: serving.inference });
}

/** Begins what needs the address, which is in the links of mails and on the pages of payments. */
async function serve(parts: Parts, addresses: Addresses): Promise<Pick<RunningServer, 'bootstrap' | 'reload'>> {
  const { foundation, ownLog, catalog, accounts, payments, plans, events, background, fleet, readiness, metricsToken, publicUrl } = parts;
  const { config, closing, authority, metrics, dataDir, pulse } = foundation;
  const { identity, keys, internalSecret } = accounts;
  await payments.start(plans, closing);
  if (!authority) {
    if (!isTryOut(config)) await events.owedAgain();
    await background.start();
  }
  const made = authority
    ? await authority.listening(addresses, metrics)
    : await bootstrap({ dataDir, users: identity.users, keys, baseUrl: `${publicUrl()}/v1`, internalSecret, metricsToken });
  // Only now is there everything that a script which waits for readiness may look for.
  readiness.start();
  pulse.serve();
  fleet?.serve(made);
  return { bootstrap: made, reload: () => rereadModels({ ...foundation, prices: ownLog.declaring }, catalog) };
}
