import { openAccounts } from './accounts.ts';
import { openBilling } from './billing.ts';
import { openCapacity } from './capacity.ts';
import { openCatalog } from './catalog.ts';
import { openFoundation, type Process } from './foundation.ts';
import { createProblemReply } from './http/problem-document.ts';
import { openPlans } from './plans.ts';
import { openReceiptLog } from './receipt-log.ts';
import { openServing } from './serving.ts';

export type Core = Awaited<ReturnType<typeof openCore>>;

/**
 * What a request for a model is answered by, in order: data directory and database, the keys that sign, prices, then journal and lanes, who
 * may call, and the providers.
 * @param publicUrl where the service is reached, which may be known only once its port is bound
 */
export async function openCore(process: Process, publicUrl: () => string) {
  const problemReply = createProblemReply(publicUrl);
  const foundation = await openFoundation(process);
  const ownLog = await openReceiptLog(foundation);
  const catalog = await openCatalog(foundation, ownLog.declaring);
  const billing = await openBilling(foundation, catalog, ownLog);
  // Before the accounts: which plan they are on is asked of them.
  const plans = await openPlans(foundation);
  const capacity = await openCapacity(process.config, foundation);
  const accounts = await openAccounts({ foundation, catalog, publicUrl, plans });
  const { ownKeys } = ownLog;
  const serving = await openServing({ foundation, catalog, billing, ownKeys, accounts, publicUrl, problemReply, plans, capacity });
  return { foundation, ownLog, catalog, billing, planBook: plans, capacity, accounts, serving, publicUrl, problemReply };
}
