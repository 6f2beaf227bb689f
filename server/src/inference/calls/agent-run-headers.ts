import type { LaneState } from '../../adapters/lanes/port.ts';
import { formatUsd, maxOf, minOf } from '../../kernel/money.ts';

/**
 * Spend and budget of the agent run; nothing for a call outside runs. Its own lane comes first, then those of the runs above it, which leave it no
 * more than they have left themselves. Without any ceiling there is only the spend.
 */
export function agentRunHeaders(lanes: readonly LaneState[]): Record<string, string> {
  const runs = lanes.filter(({ source }) => source === 'agent_run');
  const [own] = runs;
  if (!own) return {};
  const left = runs.flatMap(({ cap, spent, held }) => (cap === null ? [] : [maxOf(0n, cap - spent - held)]));
  return {
    'x-agent-budget-spent-usd': formatUsd(own.spent),
    ...(own.cap !== null && { 'x-agent-budget-limit-usd': formatUsd(own.cap) }),
    ...(left.length > 0 && { 'x-agent-budget-remaining-usd': formatUsd(left.reduce(minOf)) }),
  };
}
