import { receiptAnchor } from '@tallygate/receipt-anchor';
import type { Timer } from '../adapters/timers/port.ts';
import { AnchorWorker, type SigningKey } from '../receipts/index.ts';
import type { Foundation } from './foundation.ts';

/** How long an anchor that is due may wait for the next look. */
const STEP_MS = 5_000;

/** The work of anchoring the log on the configured chains; none where nothing is configured. The library for chains is loaded only then. */
export async function anchoringTimers(
  { config, pool, clock, log, closing, metrics }: Foundation,
  logKeys: readonly SigningKey[],
): Promise<Timer[]> {
  if (config.anchorChains.length === 0) return [];
  const { openEthersChain } = await import('../adapters/chain/ethers-chain.ts');
  const workers = config.anchorChains.map((settings) => {
    const chain = openEthersChain({ ...settings, abi: receiptAnchor.abi });
    closing.add('connection to a chain', async () => chain.close());
    return new AnchorWorker({ chain, settings, pool, logKeys, clock, log, onLook: metrics.anchoring });
  });
  return [{ name: 'receipts-anchor-log', everyMs: STEP_MS, run: () => Promise.all(workers.map((worker) => worker.step())) }];
}
