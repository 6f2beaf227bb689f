/** A store that was not reached or did not answer in time, where its driver says so in ways of its own. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/**
 * Whether PostgreSQL or Redis was not reachable, or closed the connection: nothing is wrong with the request, which may be repeated. Detected
 * by the errors of the drivers, also through ORM and transactions, also for a pool without a free connection. An error of a query does not count.
 */
export function isStoreFailure(error: unknown): boolean {
  const seen = new Set<unknown>();
  for (let one = error; one instanceof Error && !seen.has(one); one = one.cause) {
    seen.add(one);
    if (one instanceof StoreUnavailable) return true;
    // An address with several networks fails once for each of them.
    if (one instanceof AggregateError && one.errors.length > 0 && one.errors.every(isStoreFailure)) return true;
    if (isConnectionLost(one) || isRefusedByServer(one) || SAID.some((words) => one.message.includes(words))) return true;
    // Another service is not reachable: a payment provider, a chain.
    if (one instanceof TypeError) return false;
  }
  return false;
}

const CONNECTION = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN', 'ENOTFOUND']);
const isConnectionLost = (error: Error): boolean => 'code' in error && CONNECTION.has(String(error.code)) && 'syscall' in error;

/** SQLSTATE: class 08 (connection), 57P01 to 57P03 (shutdown, crash, starting up), 53300 (too many connections). */
const isRefusedByServer = (error: Error): boolean =>
  'code' in error && typeof error.code === 'string' && /^(?:08[0-9A-Z]{3}|57P0[123]|53300)$/.test(error.code);

/** What `pg` and `ioredis` say without a code. */
const SAID = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Client has encountered a connection error',
  'Connection is closed',
  "Stream isn't writeable",
  'Command timed out',
  'Redis connection lost',
  'Failed to refresh slots cache',
  'LOADING Redis is loading',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'Redis does not answer',
];
