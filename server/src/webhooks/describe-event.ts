import type { WebhookEvent } from '@tallygate/contract';

/** An event in words, for people in a chat. */
export interface Notice {
  readonly title: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
}

export function describeEvent(event: WebhookEvent): Notice {
  const facts = factsOf(event);
  return { title: titleOf(event), facts: event.account_id === null ? facts : [...facts, ['Account', event.account_id]] };
}

/** Also of an event of a type that only a newer gateway knows. */
function titleOf(event: WebhookEvent): string {
  switch (event.type) {
    case 'key.created':
      return `API key created: ${event.data.name}`;
    case 'key.rotated':
      return `API key rotated: ${event.data.name}`;
    case 'key.revoked':
      return `API key revoked: ${event.data.name}`;
    case 'budget.threshold_reached':
      return `${event.data.name} has used ${event.data.threshold_percent} % of its monthly cap`;
    case 'budget.cap_hit':
      return `A request of ${event.data.name} was refused: its monthly cap is reached`;
    case 'limit.threshold_reached':
      return `${limitName(event.data)} has reached ${event.data.threshold_percent} % of its limit`;
    case 'limit.cap_hit':
      return `A request was refused: the limit of ${limitName(event.data)} is reached`;
    case 'spend.threshold_reached':
      return `Charges of the month have reached $${event.data.threshold_usd}`;
    case 'run.exhausted':
      return `Agent run ${event.data.run_id} is exhausted`;
    case 'provider.set_aside':
      return `Provider ${event.data.provider} is set aside for ${event.data.model}`;
    case 'provider.restored':
      return `Provider ${event.data.provider} serves ${event.data.model} again`;
    case 'invoice.issued':
      return `Invoice of ${event.data.month}: $${event.data.total_usd}`;
    case 'receipt.anchored':
      return `Receipts anchored: ${event.data.receipt_count}`;
    case 'log.stopped':
      return 'The log of receipts is stopped';
    case 'webhook.test':
      return 'Test event from Tallygate';
    default:
      return (event satisfies never as WebhookEvent).type;
  }
}

const limitName = ({
  kind,
  subject,
  period,
}: {
  readonly kind: string;
  readonly subject: string | null;
  readonly period: string;
}): string => `${subject === null ? kind : `${kind} ${subject}`} (${period})`;

/** The fields of `data` by their names: `spent_usd` is shown as “spent usd”. */
const factsOf = ({ data }: WebhookEvent): Notice['facts'] =>
  Object.entries(data).flatMap(([field, value]) =>
    value === null || typeof value === 'object' ? [] : [[field.replaceAll('_', ' '), String(value)] as const],
  );
