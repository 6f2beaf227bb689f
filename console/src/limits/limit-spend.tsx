import type { SpendingLimit } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { tallygate } from '../client.ts';
import { usd } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { CapBar } from '../ui/parts.tsx';

/** What is spent and held under a limit in its period; of a limit of each of a kind there is no one figure. */
export function LimitSpend({ limit }: { limit: SpendingLimit }) {
  const livemode = useLivemode();
  const { limit_id: limitId, cap_usd: cap } = limit;
  const isOfEach = limit.kind !== 'account' && limit.subject === null;
  const { data } = useQuery({
    queryKey: ['limit', limitId, livemode],
    queryFn: () => tallygate.limits.get(limitId, { livemode }),
    enabled: !isOfEach && cap !== null,
  });
  if (isOfEach || cap === null) return '–';
  if (!data) return '…';
  return (
    <span className="spend-of-cap">
      {usd(data.spent_usd)}
      {data.held_usd !== '0' && ` and ${usd(data.held_usd)} held`}
      <CapBar spent={data.spent_usd} held={data.held_usd} cap={cap} />
    </span>
  );
}
