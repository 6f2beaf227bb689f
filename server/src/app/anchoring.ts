import { receiptAnchor } from '@tallygate/receipt-anchor';
import type { Timer } from '../adapters/timers/port.ts';
import { rfc3161Authority } from '../adapters/timestamps/rfc3161.ts';
import { AnchorWorker, type SigningKey, stampLog } from '../receipts/index.ts';
import type { Foundation } from './foundation.ts';

/** How long an anchor that is due may wait for the next look. */
const STEP_MS = 5_000;

/** The work of anchoring the log, on chains and by timestamps; none where nothing is configured. */
export const anchoringTimers = async (foundation: Foundation, logKeys: readonly SigningKey[]): Promise<Timer[]> => [
  ...(await chainTimers(foundation, logKeys)),
  ...timestampTimers(foundation, logKeys),
];

function timestampTimers({ config, pool, clock }: Foundation, logKeys: readonly SigningKey[]): Timer[] {
  const { authorities: urls, everyMs } = config.timestamps;
  if (urls.length === 0) return [];
  const authorities = urls.map((url) => rfc3161Authority(url));
  const stamp: Timer['run'] = ({ log, signal }) => stampLog({ pool, authorities, logKeys, clock, log }, signal);
  return [{ name: 'receipts-stamp-log', everyMs, run: stamp }];
}

/** The library for chains is loaded only where there is one. */
async function chainTimers({ config, pool, clock, log, closing, metrics }: Foundation, logKeys: readonly SigningKey[]): Promise<Timer[]> {
  if (config.anchorChains.length === 0) return [];
  const { openEthersChain } = await import('../adapters/chain/ethers-chain.ts');
  const workers = config.anchorChains.map((settings) => {
    const chain = openEthersChain({ ...settings, abi: receiptAnchor.abi });
    closing.add('connection to a chain', async () => chain.close());
    return new AnchorWorker({ chain, settings, pool, logKeys, clock, log, onLook: metrics.anchoring });
  });
  return [{ name: 'receipts-anchor-log', everyMs: STEP_MS, run: () => Promise.all(workers.map((worker) => worker.step())) }];
}
